"use strict";
// D.strings: all texts. D.types: each [name, kind, size, entries], where kind is 1 for a union and entries
// has seven numbers for each part of the layout: name, type, offset and size in bits, the type that it unfolds
// to, the type that it refers to, -1 for none, and its class. The name is -1 for a hole and -2 for padding.
// D.classes has a name and a hue for each class. D.list has the types with names, in order. D.open is the type
// to begin with, or -1. In a comparison D.sides names the two files, and each type that is listed has one more:
// [the same type in the other file or -1, what became of it, how much that is, the same in short].
const D = JSON.parse(document.getElementById("data").textContent);
const S = D.strings, T = D.types, WIDTH = 7;
const $ = id => document.getElementById(id);
const el = (tag, attrs, ...kids) => {
  const e = document.createElement(tag);
  for (const k in attrs || {}) k === "text" ? e.textContent = attrs[k] : e.setAttribute(k, attrs[k]);
  e.append(...kids);
  return e;
};
const kindOf = t => t[1] === 1 ? "union" : "struct";
const nameOf = t => S[t[0]] || "";
const titleOf = t => kindOf(t) + " " + (nameOf(t) || "(anonymous)");
const group = n => String(n).replace(/\B(?=(\d{3})+$)/g, ",");
const bytes = bits => group(Math.floor(bits / 8)) + (bits % 8 ? ":" + bits % 8 : "");
const plural = (n, word) => group(n) + " " + word + (n === 1 ? "" : /h$/.test(word) ? "es" : "s");
const amount = bits => [bits >= 8 || !bits ? plural(Math.floor(bits / 8), "byte") : "", bits % 8 ? plural(bits % 8, "bit") : ""].filter(Boolean).join(" ");

// parts gives the parts of type i with their places from bit base on.
function parts(i, base) {
  const e = T[i][3], out = [];
  for (let k = 0; k < e.length; k += WIDTH)
    out.push({ name: e[k] >= 0 ? S[e[k]] : "", hole: e[k] === -1, pad: e[k] === -2, type: S[e[k + 1]] || "", at: base + e[k + 2], size: e[k + 3], ref: e[k + 4], link: e[k + 5], cls: e[k + 6] });
  return out;
}

// ---- the list ----
const named = D.list;
const byName = new Map();
named.forEach(i => { const n = nameOf(T[i]); byName.has(n) ? byName.get(n).push(i) : byName.set(n, [i]); });
const ROW = 22;
let shown = named, cursor = 0, current = -1, order = "name";

// unused is [holes, bits in holes and padding] of type i.
const known = new Map();
function unused(i) {
  if (!known.has(i)) {
    const e = T[i][3];
    let holes = 0, bits = 0;
    for (let k = 0; k < e.length; k += WIDTH) if (e[k] < 0) { holes += e[k] === -1; bits += e[k + 3]; }
    known.set(i, [holes, bits]);
  }
  return known.get(i);
}
// sorts have what is compared, greatest first, and what the list says of a type.
const byChange = (a, b) => (T[b][4][0] >= 0) - (T[a][4][0] >= 0) || T[b][4][2] - T[a][4][2];
const sorts = {
  name: [null, i => D.sides ? T[i][4][3] : group(T[i][2])],
  size: [(a, b) => T[b][2] - T[a][2], i => group(T[i][2])],
  holes: [(a, b) => unused(b)[0] - unused(a)[0] || unused(b)[1] - unused(a)[1], i => plural(unused(i)[0], "hole") + ", " + (unused(i)[1] % 8 && unused(i)[1] < 8 ? plural(unused(i)[1], "bit") : group(Math.floor(unused(i)[1] / 8)) + " B")],
  change: [byChange, i => T[i][4][3]],
};
if (D.sides) $("sort").append(el("option", { value: "change", text: "by change" }));

function drawList() {
  const list = $("list"), first = Math.max(0, Math.floor(list.scrollTop / ROW) - 10), last = Math.min(shown.length, first + Math.ceil(list.clientHeight / ROW) + 20);
  const inner = el("div", { style: "position:relative;height:" + shown.length * ROW + "px" });
  for (let k = first; k < last; k++) {
    const t = T[shown[k]];
    const row = el("div", { class: "row", role: "option", id: "row" + k, "aria-selected": String(k === cursor), style: "top:" + k * ROW + "px", title: titleOf(t) + (D.sides ? ": " + t[4][1] : "") },
      el("span", { class: "name", text: nameOf(t) }), el("span", { class: "size", text: sorts[order][1](shown[k]) }));
    row.onclick = () => { cursor = k; open(shown[k]); };
    inner.append(row);
  }
  const top = list.scrollTop;
  list.replaceChildren(inner);
  list.scrollTop = top;
  list.setAttribute("aria-activedescendant", "row" + cursor);
}

function moveTo(k) {
  if (!shown.length) return;
  cursor = Math.max(0, Math.min(shown.length - 1, k));
  const list = $("list"), y = cursor * ROW;
  if (y < list.scrollTop) list.scrollTop = y;
  if (y + ROW > list.scrollTop + list.clientHeight) list.scrollTop = y + ROW - list.clientHeight;
  drawList();
}

// step opens the type that is n below the one that is marked, and adds nothing to the history.
function step(n) {
  if (!shown.length) return;
  moveTo(cursor + n);
  try { history.replaceState(null, "", "#" + address(shown[cursor])); } catch { /* a page without an address */ }
  fresh(shown[cursor]);
}

// search keeps the names that contain the words; a word that begins with a dot is of a member.
function search(text) {
  const words = text.trim().toLowerCase().split(/\s+/).filter(Boolean);
  const plain = words.filter(w => w[0] !== "."), members = words.filter(w => w[0] === "." && w.length > 1).map(w => w.slice(1));
  shown = named.filter(i => {
    const n = nameOf(T[i]).toLowerCase();
    if (!plain.every(w => n.includes(w))) return false;
    if (!members.length) return true;
    const e = T[i][3];
    return members.every(w => { for (let k = 0; k < e.length; k += WIDTH) if (e[k] >= 0 && S[e[k]].toLowerCase().includes(w)) return true; return false; });
  });
  if (sorts[order][0]) shown = [...shown].sort(sorts[order][0]);
  else if (plain.length === 1) {
    const rank = i => { const n = nameOf(T[i]).toLowerCase(); return n === plain[0] ? 0 : n.startsWith(plain[0]) ? 1 : 2; };
    shown = shown.map((i, k) => [rank(i), k, i]).sort((a, b) => a[0] - b[0] || a[1] - b[1]).map(x => x[2]);
  }
  cursor = 0;
  $("list").scrollTop = 0;
  drawList();
  $("about").textContent = shown.length === named.length ? D.about : plural(shown.length, "match");
}

function sortBy(how) {
  order = $("sort").value = how;
  search($("search").value);
  const k = shown.indexOf(current);
  if (k >= 0) moveTo(k);
}

// ---- one type ----
const unfolded = new Set(); // ids of members that are unfolded, of the type that is open
const ids = new Map();      // of members, by the path of names to them: the same on both sides of a comparison
const idOf = (above, name) => { const k = above + "/" + name; if (!ids.has(k)) ids.set(k, ids.size + 1); return ids.get(k); };
const DEPTH = 40, MAX_PARTS = 20000; // types without names may contain each other again and again
const isOpen = (p, depth) => p.ref >= 0 && unfolded.has(p.id) && depth < DEPTH;

// keyed gives the parts of type i with their ids, below the member with the id above. beside is the same for
// the holes before one member, and for the padding of one struct.
function keyed(i, base, above) {
  const seen = new Map();
  const all = parts(i, base).map(p => {
    const name = p.hole || p.pad ? "-" : p.name ? "." + p.name : "";
    const n = seen.get(name) || 0;
    seen.set(name, n + 1);
    p.id = idOf(above, name + (n ? "#" + n : ""));
    return p;
  });
  all.forEach((p, k) => { p.beside = p.hole ? "before " + all[k + 1].id : p.pad ? "end of " + above : String(p.id); });
  return all;
}

// unfoldUnnamed unfolds the members without names, as C reads them, and nothing else.
function unfoldUnnamed(i) {
  unfolded.clear();
  let left = 2000;
  const walk = (i, above, depth) => {
    for (const p of keyed(i, 0, above)) {
      if (p.ref < 0 || p.name || depth >= DEPTH || left-- <= 0) continue;
      unfolded.add(p.id);
      walk(p.ref, p.id, depth + 1);
    }
  };
  drawnSides(i).forEach(s => walk(s.i, 0, 0));
}

// rows gives the parts of type i as a list, unfolded where the reader wants it. own says of a part that
// its name is one of the type itself: only members without names are around it.
function rows(i, base, above, depth, own, out) {
  for (const p of keyed(i, base, above)) {
    if (out.length >= MAX_PARTS) break;
    p.depth = depth; p.own = own; p.open = isOpen(p, depth);
    out.push(p);
    if (p.open) rows(p.ref, p.at, p.id, depth + 1, own && !p.name, out);
  }
  return out;
}

// place adds the part to those of the picture, or what it unfolds to. The members of a union lie in
// layers below each other. It returns the lowest layer that it has used.
function place(p, layer, depth, own, out) {
  if (!isOpen(p, depth) || out.length >= MAX_PARTS) { p.layer = layer; p.own = own; out.push(p); return layer; }
  return placeAll(p.ref, p.at, p.id, layer, depth + 1, own && !p.name, out);
}
function placeAll(i, base, above, layer, depth, own, out) {
  let low = layer;
  keyed(i, base, above).forEach((p, k) => { low = T[i][1] === 1 ? place(p, k ? low + 1 : low, depth, own, out) : Math.max(low, place(p, layer, depth, own, out)); });
  return low;
}

const label = p => p.hole ? "hole" : p.pad ? "padding" : p.name || p.type;
const describe = p => label(p) + (p.hole || p.pad ? "" : ": " + p.type) + ", at " + bytes(p.at) + ", " + amount(p.size);
const classOf = mark => mark === "other type" ? "other" : mark;
const SIGNS = { new: "+", gone: "−", moved: "→", grows: "↑", shrinks: "↓", "other type": "≠" };
const TINY = 1 / 64, SMALL = 1 / 20; // of a line: no room for a letter, and for few

function block(p, left, width, mark) {
  const gap = p.hole || p.pad, zero = !gap && p.size === 0, tiny = !zero && width < TINY;
  const text = zero && left < 1 && !p.last || tiny ? "" : (SIGNS[mark] || "") + label(p); // what has no size would cover its neighbours
  const b = el(gap ? "span" : "button", {
    class: "block" + (p.hole ? " h" : p.pad ? " p" : "") + (zero ? " z" : "") + (p.ref >= 0 ? " nested" : "") + (tiny ? " tiny" : width < SMALL ? " small" : "") + (mark ? " " + classOf(mark) : ""),
    style: (zero && left >= 1 ? "right:0" : `left:${left * 100}%`) + (zero ? "" : `;width:${width * 100}%`) + (gap ? "" : ";--hue:" + D.classes[p.cls][1]),
    title: describe(p) + (mark ? " — " + mark : ""), "data-id": p.id,
  }, gap ? el("span", { text }) : text);
  if (!gap) {
    b.setAttribute("aria-label", describe(p) + (mark ? ", " + mark : ""));
    b.onclick = () => { if (p.ref >= 0) toggle(p.id); else light(p.id); };
  }
  return b;
}

const MAX_LINES = 400; // rows of a picture; the table has everything
// picture draws the types of sides next to each other, a row for each cache line, or one for a whole union.
function picture(sides) {
  const there = sides.filter(s => s.i >= 0), union = T[there[0].i][1] === 1;
  const line = union ? Math.max(8, ...there.map(s => T[s.i][2] * 8)) : D.line * 8;
  const box = el("div", { class: "picture" + (sides.length > 1 ? " both" : "") }), needed = new Map(); // layers by line
  const drawn = sides.map(s => {
    const out = [];
    if (s.i >= 0) placeAll(s.i, 0, 0, 0, 0, true, out);
    const end = s.i >= 0 ? T[s.i][2] * 8 : 0;
    for (const p of out) {
      p.mark = s.mark ? s.mark(p) : "";
      p.last = p.at >= end;
      p.from = Math.floor(p.at / line); p.to = Math.floor((p.at + Math.max(p.size, 1) - 1) / line);
      if (!p.size && p.at && p.at >= end && p.at % line === 0) p.from = p.to = p.from - 1; // behind the last member: at the end of its line
      for (let n = p.from; n <= p.to; n++) {
        if (p.to - p.from > 5 && n === p.from + 2) n = p.to - 1; // many full lines of one member: the first and last two
        needed.set(n, Math.max(needed.get(n) || 0, p.layer));
      }
    }
    return out;
  });
  if (sides.length > 1) box.append(el("div", { class: "corner" }), ...sides.map(s => el("h3", { text: s.name })));
  const lines = [...needed.keys()].sort((a, b) => a - b);
  let used = 0, last = -1;
  for (const n of lines) {
    if (last >= 0 && n > last + 1) {
      const over = drawn.map(d => d.find(p => p.from <= last && p.to >= n)).filter(Boolean);
      box.append(el("div", { class: "more", text: "… " + plural(n - last - 1, "more line") + (over.length ? " of " + [...new Set(over.map(label))].join(" and ") : "") }));
    }
    last = n;
    const bars = [];
    for (let layer = 0; layer <= needed.get(n); layer++) {
      if (used++ >= MAX_LINES) break;
      box.append(el("div", { class: "at" }, el("span", { text: layer ? "or" : group(n * line / 8) })));
      bars.push(sides.map(() => { const b = el("div", { class: "bar" + (layer ? " or none" : " none") }); box.append(b); return b; }));
    }
    drawn.forEach((d, s) => {
      const whole = sides[s].i >= 0 ? T[sides[s].i][2] * 8 : 0;
      if (whole < (n + 1) * line) bars.forEach(b => b[s].classList.add("end"));
      for (const p of d) {
        if (p.from > n || p.to < n || !bars[p.layer]) continue;
        const start = Math.max(p.at, n * line), end = Math.min(p.at + p.size, (n + 1) * line), b = bars[p.layer][s];
        b.classList.remove("none");
        b.append(block(p, (start - n * line) / line, Math.max(0, end - start) / line, p.mark));
      }
    });
    if (used > MAX_LINES) {
      box.append(el("div", { class: "more", text: "The picture ends after " + plural(MAX_LINES, "row") + "; the table has all members." }));
      break;
    }
  }
  return el("div", {}, legend(drawn.flat()), box);
}

// legend says what the colours and marks of the drawn parts mean.
function legend(drawn) {
  const out = el("ul", { class: "legend", "aria-label": "Legend" });
  const add = (cls, style, text) => out.append(el("li", {}, el("span", { class: "block " + cls, style }), text));
  D.classes.forEach(([name, hue], k) => { if (drawn.some(p => !p.hole && !p.pad && p.cls === k)) add("", "--hue:" + hue, name); });
  if (drawn.some(p => p.hole)) add("h", "", "hole");
  if (drawn.some(p => p.pad)) add("p", "", "padding");
  for (const m in SIGNS) if (drawn.some(p => p.mark === m)) add(classOf(m), "background:none", SIGNS[m] + " " + m);
  return out;
}

// cells are those of a part on side a or b of a table; four empty ones for none.
function cells(p, side) {
  const td = (what, text) => el("td", { class: what + " " + side, text });
  if (!p) return ["num", "num", "name", "type"].map(what => td(what, ""));
  const first = td("name", ""), type = td("type", "");
  first.style.paddingLeft = Math.min(p.depth, 12) * 1.2 + "em";
  if (p.ref >= 0) {
    const f = el("button", { class: "fold", "aria-expanded": String(p.open), "aria-label": (p.open ? "fold " : "unfold ") + label(p), text: p.open ? "▾" : "▸" });
    f.onclick = () => toggle(p.id);
    first.append(f);
  }
  first.append(p.hole || p.pad ? "— " + label(p) + " —" : p.name || "(anonymous)");
  if (p.link >= 0 && byName.has(nameOf(T[p.link]))) type.append(el("a", { href: "#" + address(p.link), text: p.type }));
  else type.append(p.type);
  return [td("num", bytes(p.at)), td("num", p.size % 8 ? plural(p.size, "bit") : group(p.size / 8)), first, type];
}

// paired puts the rows of two sides next to each other: what is on both stands where the first side has it,
// and what only one has, between its neighbours. So are holes behind one member, or before one.
function paired(a, b) {
  if (!a || !b) return (a || b).map(p => a ? [p, null] : [null, p]);
  const inA = new Set(a.map(p => p.beside)), inB = new Map(b.map(p => [p.beside, p])), done = new Set(), out = [];
  const add = (p, q) => { out.push([p, q]); done.add(q); };
  for (let i = 0, j = 0; i < a.length || j < b.length;) {
    const p = a[i], q = b[j], there = p && inB.get(p.beside);
    if (q && done.has(q)) j++;
    else if (p && q && (p.beside === q.beside || p.hole && q.hole)) { add(p, q); i++; j++; }
    else if (p && (!there || done.has(there))) { out.push([p, null]); i++; }
    else if (q && !inA.has(q.beside)) { out.push([null, q]); j++; }
    else if (p) { add(p, there); i++; }
    else { out.push([null, q]); j++; } // the hole whose pair has another one
  }
  return out;
}

function table(sides) {
  const both = sides.length > 1, body = el("tbody"), all = sides.map(s => s.i >= 0 ? rows(s.i, 0, 0, 0, true, []) : null);
  for (const pair of both ? paired(...all) : all[0].map(p => [p])) {
    const p = pair[0] || pair[1], k = pair[0] ? 0 : 1, state = sides[k].mark ? sides[k].mark(p) : "";
    const row = el("tr", { class: p.hole ? "hole" : p.pad ? "pad" : classOf(state), "data-id": p.id });
    if (both) row.append(el("td", { class: "tag", text: state }));
    row.append(...cells(pair[0], "a"), ...both ? cells(pair[1], "b") : []);
    row.onclick = e => { if (e.target.tagName !== "A" && e.target.tagName !== "BUTTON") light(p.id); };
    body.append(row);
  }
  const heads = b => [el("th", { class: "num" + (b ? " b" : ""), text: "offset" }), el("th", { class: "num", text: "size" }), el("th", { text: "member" }), el("th", { text: "type" })];
  const head = el("thead");
  if (both) head.append(el("tr", {}, el("th", { class: "side" }), ...sides.map((s, k) => el("th", { class: "side" + (k ? " b" : ""), colspan: 4, text: s.name }))));
  head.append(el("tr", {}, ...both ? [el("th", { text: "change" })] : [], ...heads(false), ...both ? heads(true) : []));
  return el("table", { class: both ? "both" : "" }, head, body);
}

function facts(i, name) {
  const t = T[i], p = parts(i, 0), members = p.filter(x => !x.hole && !x.pad).length, [holes, wasted] = unused(i);
  const out = el("p", { class: "facts" }, name ? name + ": " : "", el("b", { text: plural(t[2], "byte") }), ", ", plural(members, "member"));
  if (t[1] === 0) out.append(", ", plural(Math.ceil(t[2] / D.line), "cache line"));
  if (holes || wasted) out.append(", ", el("span", { class: "waste", text: plural(holes, "hole") + ", " + amount(wasted) + " unused" }));
  return out;
}

// members adds the members of type i by name, those of members without a name among them. left bounds how
// many are looked at.
function members(i, base, depth, left, out) {
  for (const p of parts(i, base)) {
    if (left.n-- <= 0) break;
    if (p.name) out.set(p.name, p); else if (p.ref >= 0 && depth < DEPTH) members(p.ref, p.at, depth + 1, left, out);
  }
  return out;
}

// marks says of each member of a type what became of it in the other file.
function marks(other, old) {
  const there = other >= 0 ? members(other, 0, 0, { n: 65536 }, new Map()) : new Map();
  return p => {
    if (!p.own || !p.name) return "";
    const o = there.get(p.name);
    if (!o) return old ? "gone" : "new";
    if (o.size !== p.size) return (p.size > o.size) === old ? "shrinks" : "grows";
    if (o.type !== p.type) return "other type";
    return o.at !== p.at ? "moved" : "";
  };
}

// sidesOf gives what stands next to each other for type i: it alone or, in a comparison, both.
function sidesOf(i) {
  if (!D.sides) return [{ i }];
  const [other, status] = T[i][4], pair = status === "new" ? [-1, i] : [i, other];
  return pair.map((i, k) => ({ i, name: D.sides[k], mark: marks(pair[1 - k], k === 0) }));
}
const drawnSides = i => sidesOf(i).filter(s => s.i >= 0);

// fresh shows type i from its top, with nothing unfolded but members without names.
function fresh(i) {
  ids.clear();
  unfoldUnnamed(i);
  show(i);
  $("main").scrollTop = 0;
}

function show(i) {
  const main = $("main"), t = T[i], sides = sidesOf(i);
  current = i;
  main.replaceChildren(el("h2", { text: titleOf(t) }));
  if (D.sides) {
    main.append(el("p", { class: "facts", text: t[4][1] }));
    for (const s of sides) main.append(s.i >= 0 ? facts(s.i, s.name) : el("p", { class: "facts empty", text: s.name + ": not there" }));
  } else main.append(facts(i));
  main.append(picture(sides), el("h3", { text: "Members" }), table(sides));
  document.title = titleOf(t);
}

function toggle(id) {
  const inside = el => [...el.querySelectorAll(`[data-id="${id}"]`)];
  unfolded.has(id) ? unfolded.delete(id) : unfolded.add(id);
  const top = $("main").scrollTop;
  show(current);
  $("main").scrollTop = top;
  const b = inside($("main")).map(e => e.querySelector("button")).find(Boolean);
  if (b) b.focus({ preventScroll: true });
}

function light(id) {
  for (const e of $("main").querySelectorAll(".on")) e.classList.remove("on");
  for (const e of $("main").querySelectorAll(`[data-id="${id}"]`)) e.classList.add("on");
}

// ---- addresses: #name, or #name~2 for the second type of that name; a ~ in a name is %7E ----
function address(i) {
  const n = nameOf(T[i]), k = (byName.get(n) || []).indexOf(i);
  return encodeURIComponent(n).replaceAll("~", "%7E") + (k > 0 ? "~" + (k + 1) : "");
}
function open(i) { location.hash === "#" + address(i) ? show(i) : location.hash = address(i); drawList(); }
function follow() {
  const m = /^#(.*?)(?:~(\d+))?$/.exec(location.hash);
  let name = "";
  try { name = decodeURIComponent(m[1]); } catch { return; }
  const found = byName.get(name);
  if (!found) { if (name) $("main").replaceChildren(el("p", { class: "empty", text: "No type is called " + name + "." })); return; }
  fresh(found[(m[2] || 1) - 1] ?? found[0]);
  const k = shown.indexOf(current);
  if (k >= 0) moveTo(k);
}

// ---- keys ----
document.addEventListener("keydown", e => {
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  const typing = e.target === $("search"), inList = typing || e.target === $("list") || e.target === document.body;
  if (e.key === "/" && !typing) { e.preventDefault(); $("search").focus(); $("search").select(); }
  else if (e.key === "Escape") { if (typing && $("search").value) { $("search").value = ""; search(""); } else $("list").focus(); }
  else if (inList && e.key === "ArrowDown") { e.preventDefault(); step(1); }
  else if (inList && e.key === "ArrowUp") { e.preventDefault(); step(-1); }
  else if (inList && e.key === "PageDown") { e.preventDefault(); step(20); }
  else if (inList && e.key === "PageUp") { e.preventDefault(); step(-20); }
  else if (inList && e.key === "Enter") { if (shown.length) { e.preventDefault(); open(shown[cursor]); } }
  else if (!typing && e.key === "t") theme();
  else if (!typing && e.key === "s" && e.target !== $("sort")) { const all = [...$("sort").options].map(o => o.value); sortBy(all[(all.indexOf(order) + 1) % all.length]); }
  else if (!typing && e.key === "u" && current >= 0) {
    const all = drawnSides(current).flatMap(s => keyed(s.i, 0, 0)).filter(p => p.ref >= 0 && p.name).map(p => p.id), any = all.some(id => unfolded.has(id));
    unfoldUnnamed(current);
    if (!any) all.forEach(id => unfolded.add(id));
    show(current);
  }
});
function theme() {
  const root = document.documentElement, dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
}
$("theme").onclick = theme;
$("sort").addEventListener("change", e => sortBy(e.target.value));
$("search").addEventListener("input", e => search(e.target.value));
$("list").addEventListener("scroll", drawList);
addEventListener("resize", drawList);
addEventListener("hashchange", follow);
$("about").textContent = D.about;
document.body.classList.toggle("compare", !!D.sides);
document.body.classList.toggle("one", named.length === 1);
drawList();
if (location.hash.length > 1) follow(); else if (D.open >= 0) { fresh(D.open); moveTo(shown.indexOf(D.open)); } else if (named.length) { fresh(named[0]); } else $("main").append(el("p", { class: "empty", text: D.sides ? "Both files have the same layouts." : "No structs." }));
