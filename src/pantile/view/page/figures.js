// The tables behind the pictures: the same figures, without colour. Rows are made when asked for.

/** A table by name: title, columns as [title, isFigure], row count, cells of a row, and where a row leads. */
function tableOf(name) {
  return { figures: figuresTable, tiles: tilesTable, operations: operationsTable, blocks: blocksTable, entries: entriesTable }[name]();
}

function figuresTable() {
  const { head } = page;
  const rows = [
    ...head.figures.map((figure) => [figureName(figure), figure.value, figure.unit,
      figure.factors.map((factor) => `${factor.count} ${factorName(factor)}`).join(" × ")]),
    ...head.terms.map((term) => [termName(term), term.cycles, "cycles", ""]),
  ];
  return {
    title: tr("table.figures"),
    columns: [[tr("column.name")], [tr("column.value"), true], [tr("column.unit")], [tr("column.product")]],
    count: rows.length,
    cells: (row) => rows[row],
    leads: () => -1,
  };
}

function tilesTable() {
  const { tiles } = page.tables;
  return {
    title: tr("table.tiles"),
    columns: [[tr("inspector.tile")], [tr("inspector.box")], [tr("inspector.actual")], [tr("inspector.nominal")],
      [tr("inspector.core"), true], [tr("inspector.operations"), true], [tr("inspector.issue"), true], [tr("inspector.finish"), true]],
    count: tiles.rows,
    cells: (row) => [pathOf(row), boxWords(tiles, row), sizeWords(row, "size"), sizeWords(row, "nominal"), tiles.core[row],
      (model.byTile.get(row) || []).length, recorded(tiles.issue_cycle[row]), recorded(tiles.finish_cycle[row])],
    leads: (row) => model.byTile.get(row)?.[0] ?? -1,
  };
}

/** A cycle, or nothing where it was not recorded. */
function recorded(cycle) {
  return cycle < 0 ? "" : cycle;
}

function operationsTable() {
  const { operations } = page.tables;
  const text = (list, index) => (index < 0 ? "" : lettered(list[index]));
  const more = [
    ...(page.head.texts.length ? [[[tr("inspector.text")], statementOf]] : []),
    ...(page.head.sources.length ? [[[tr("inspector.source")], sourceOf], [[tr("inspector.index"), true], listedOf]] : []),
  ];
  return {
    title: tr("table.operations"),
    columns: [[tr("column.number"), true], [tr("inspector.tile")], [tr("inspector.opcode")], [tr("inspector.box")],
      [tr("inspector.bytes"), true], [tr("inspector.macs"), true], [tr("inspector.stage")], [tr("column.addresses")],
      [tr("inspector.waits")], [tr("inspector.posts")], [tr("inspector.engine")], [tr("inspector.issue"), true],
      [tr("inspector.start"), true], [tr("inspector.finish"), true], [tr("inspector.cause")], ...more.map(([column]) => column)],
    count: model.count,
    cells: (op) => [numberOf(op), operations.tile[op] < 0 ? "" : pathOf(operations.tile[op]), page.head.opcodes[operations.opcode[op]],
      operationRegion(op), operations.bytes[op], operations.macs[op],
      operations.stage_count[op] ? `${operations.stage[op] + 1}/${operations.stage_count[op]}` : "", tagsText(op),
      text(page.head.waits, operations.waits[op]), text(page.head.posts, operations.posts[op]),
      page.head.engines[operations.engine[op]].name, recorded(operations.issue_cycle[op]), recorded(operations.start_cycle[op]),
      recorded(operations.finish_cycle[op]), text(page.head.causes, operations.cause[op]), ...more.map(([, cell]) => cell(op))],
    leads: (op) => op,
    current: view.op,
  };
}

function blocksTable() {
  const { blocks } = page.tables;
  const moment = momentAt(placeOf(view));
  const counted = (block, value) => (blocks.operand[block] === OUTPUT ? value : "");
  return {
    title: tr("table.blocks"),
    columns: [[tr("column.matrix")], [tr("inspector.box")], [tr("column.state")], [tr("column.done"), true], [tr("column.total"), true]],
    count: blocks.rows,
    cells: (block) => [operandName(blocks.operand[block]), boxWords(blocks, block), tr(`state.${STATES[moment.blockState[block]]}`),
      counted(block, moment.sums.done[block]), counted(block, moment.sums.total[block])],
    leads: (block) => leadOf(touchesOfBlock(block)),
    moves: true,
  };
}

function entriesTable() {
  const { entries } = page.tables;
  const moment = momentAt(placeOf(view));
  const there = Array.from({ length: entries.rows }, (_, entry) => entry).filter((entry) => moment.entryState[entry] > STATE.released);
  const block = (entry) => (entries.operand[entry] === OUTPUT ? entries.block[entry] : -1);
  return {
    title: tr("table.entries"),
    columns: [[tr("inspector.core"), true], [tr("column.memory")], [tr("column.slot"), true], [tr("column.tag")], [tr("column.holds")],
      [tr("column.state")], [tr("column.granules"), true], [tr("inspector.bytes"), true], [tr("column.pending")]],
    count: there.length,
    cells: (row) => {
      const entry = there[row];
      return [entries.core[entry], page.head.memories[entries.memory[entry]].name, entries.slot[entry], hex(entries.tag[entry]),
        entryWords(entry), stateWords(moment.entryState[entry], block(entry), moment),
        entries.granules[entry], footprint(entry), pendingWords(entry, moment)];
    },
    leads: (row) => leadOf(model.touchesOfEntry.get(there[row])),
    moves: true,
  };
}

/** The next operation among `touches` rows from the selected one on, or the last, or -1. */
function leadOf(rows) {
  const ops = (rows || []).map((row) => page.tables.touches.operation[row]);
  return ops.find((op) => op > view.op) ?? ops.at(-1) ?? -1;
}
