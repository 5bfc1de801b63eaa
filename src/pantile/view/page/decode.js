// The page's data: a JSON head, and integer columns that travel deflated.

class Unreadable extends Error {}

/** Inflate the columns; `Unreadable` where the browser cannot. */
async function inflate(base64) {
  const packed = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  let inflater;
  try {
    inflater = new DecompressionStream("deflate-raw");
  } catch {
    throw new Unreadable("no DecompressionStream");
  }
  const stream = new Blob([packed]).stream().pipeThrough(inflater);
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** One column: `width` byte planes of zigzagged differences, starting at byte `at`. */
function unpack(bytes, at, rows, width) {
  const values = new Float64Array(rows);
  let value = 0;
  for (let row = 0; row < rows; row += 1) {
    let zigzag = 0;
    for (let plane = width - 1; plane >= 0; plane -= 1) zigzag = zigzag * 256 + bytes[at + plane * rows + row];
    value += zigzag % 2 ? -(zigzag + 1) / 2 : zigzag / 2;
    values[row] = value;
  }
  return values;
}

/** Tables by name, each with `rows` and its columns by name: a set of them for the run, and one for each other order. */
function unpackTables(described, bytes) {
  const sets = [{}];
  let at = 0;
  for (const table of described) {
    if (table.name in sets.at(-1)) sets.push({});
    const columns = { rows: table.rows };
    for (const column of table.columns) {
      columns[column.name] = unpack(bytes, at, table.rows, column.width);
      at += table.rows * column.width;
    }
    sets.at(-1)[table.name] = columns;
  }
  return sets;
}

async function readPage() {
  const head = JSON.parse(byId("head").textContent);
  const bytes = await inflate(byId("columns").textContent.trim());
  const orders = unpackTables(head.tables, bytes); // the run first
  return { head, orders, window: head.window, tables: orders[0] };
}
