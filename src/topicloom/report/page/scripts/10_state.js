// What is chosen, and who wants to know. All scripts of the page share one scope; nothing leaks but `topicloom`.
const data = JSON.parse(document.getElementById("data").textContent);
const choice = { build: null, topic: null, box: null, hidden: new Set(), moment: null };
const listeners = [];

// Change part of the choice; every listener hears which part.
function choose(part) {
  Object.assign(choice, part);
  for (const listener of listeners) listener(part);
}
function onChoice(listener) {
  listeners.push(listener);
}

// Numbers that were packed as little-endian bytes in base64.
function unpack(packed) {
  const text = atob(packed.data);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  if (packed.bits === 8) return bytes;
  return packed.bits === 16 ? new Uint16Array(bytes.buffer) : new Uint32Array(bytes.buffer);
}

// Elements are made from text, never from markup: identifiers may hold anything.
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "class") element.className = value;
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children) if (child !== null && child !== undefined) element.append(child);
  return element;
}

const LONGEST = 60;
// Cut a long text; characters beyond the basic plane stay whole.
function short(text, most = LONGEST) {
  const letters = text.length > most ? Array.from(text.slice(0, 2 * most)) : [];
  return letters.length > most ? letters.slice(0, most - 1).join("") + "…" : text;
}
// Isolate text of either direction, so that it does not turn its surroundings around.
function isolate(text) {
  return "\u2068" + text + "\u2069";
}
const whole = new Intl.NumberFormat("en");
function number(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (Number.isInteger(value)) return whole.format(value);
  return Math.abs(value) >= 100 ? whole.format(Math.round(value)) : String(Number(value.toPrecision(4)));
}
function plural(count, one, many) {
  return `${number(count)} ${count === 1 ? one : many ?? one + "s"}`;
}

const tip = document.getElementById("tip");
// Show lines of text beside the pointer or beside an element.
function showTip(title, text, x, y) {
  tip.replaceChildren();
  if (title) tip.append(make("b", { dir: "auto" }, short(title, 200)));
  tip.append(text);
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const left = Math.max(8, Math.min(x + 16, innerWidth - box.width - 8));
  const top = y + 18 + box.height > innerHeight ? y - box.height - 14 : y + 18;
  tip.style.left = `${left}px`;
  tip.style.top = `${Math.max(8, top)}px`;
}
function hideTip() {
  tip.hidden = true;
}

function css(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
