"""What the page says and how it looks, checked on its files."""

from __future__ import annotations

import re
from importlib import resources

import pytest

from pantile.view.render import SCRIPTS

PAGE = resources.files("pantile.view") / "page"


def read(name: str) -> str:
    return (PAGE / name).read_text(encoding="utf-8")


def words(language: str) -> dict[str, str]:
    """Keys and texts of one language; texts may run over several quoted pieces."""
    found = re.findall(
        r'^  "([\w.-]+)":((?:\s*"(?:[^"\\]|\\.)*"\s*\+?)+),', read(f"words_{language}.js"), re.MULTILINE
    )
    return {key: "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', text)) for key, text in found}


ENGLISH, CHINESE = words("en"), words("zh")


def test_both_languages_say_the_same_things() -> None:
    assert {key for key in CHINESE if not key.startswith("figure.")} == set(ENGLISH)
    assert len(ENGLISH) > 150


def test_translations_fill_in_the_same_values() -> None:
    places = {key: set(re.findall(r"\{(\w+)\}", text)) for key, text in ENGLISH.items()}
    assert {key: set(re.findall(r"\{(\w+)\}", CHINESE[key])) for key in places} == places


def test_every_text_asked_for_exists_and_none_is_idle() -> None:
    script = "\n".join(read(f"{name}.js") for name in SCRIPTS if not name.startswith("words"))
    quoted = set(re.findall(r'"([a-z]+(?:\.[\w-]+)+)"', script)) - {"s.x"}
    direct = {key for key in quoted if key.split(".")[0] in {key.split(".")[0] for key in ENGLISH}}
    assert not direct - set(ENGLISH)
    assert not set(re.findall(r'\btr\("([^"]+)"', script)) - set(ENGLISH)
    prefixes = set(re.findall(r"`([a-z]+(?:\.[a-z]+)*\.)\$\{", script))  # keys made from a name
    idle = {key for key in ENGLISH if f'"{key}"' not in script and not any(map(key.startswith, prefixes))}
    assert idle == set()


def test_no_script_file_outgrows_a_sitting() -> None:
    assert {name: lines for name in SCRIPTS if (lines := read(f"{name}.js").count("\n")) >= 300} == {}
    assert sorted(f"{name}.js" for name in SCRIPTS) == sorted(
        file.name for file in PAGE.iterdir() if file.name.endswith(".js")
    )


def colours(selector: str) -> dict[str, str]:
    (block,) = re.findall(re.escape(selector) + r" \{(.*?)\n\}", read("style.css"), re.DOTALL)
    return dict(re.findall(r"--([\w-]+): ([^;]+);", block))


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """WCAG 2 contrast ratio."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_contrast_of_known_pairs() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_is_readable_in_both_themes(theme: str) -> None:
    shown = colours(":root") | (colours(':root[data-theme="dark"]') if theme == "dark" else {})
    grounds = [shown["paper"], shown["ground"], shown["accent-soft"]]
    pairs = [(shown[text], ground) for text in ("ink", "soft") for ground in grounds]
    pairs += [(shown[text], shown["paper"]) for text in ("accent", "good", "bad", "warn")]
    pairs += [(shown["paper"], shown["accent"]), (shown["paper"], shown["ink"])]
    states = ("loading", "resident", "inuse", "partial", "done", "writing", "written")
    pairs += [(shown[f"{state}-text"], shown[f"{state}-fill"]) for state in states]
    pairs += [(shown["partial-text"], shown["paper"])]  # the empty part of a partial sum
    assert [(pair, round(contrast(*pair), 2)) for pair in pairs if contrast(*pair) < 4.5] == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_outlines_of_states_stand_out_from_the_page(theme: str) -> None:
    shown = colours(":root") | (colours(':root[data-theme="dark"]') if theme == "dark" else {})
    states = ("loading", "resident", "inuse", "partial", "done", "writing", "written")
    faint = {state: contrast(shown[f"{state}-line"], shown["ground"]) for state in states}
    assert {state: ratio for state, ratio in faint.items() if ratio < 3} == {}  # WCAG 1.4.11
