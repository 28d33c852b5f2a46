// Draws chess boards: no network, no library.
const chessboard = (() => {
  "use strict";
  const NS = "http://www.w3.org/2000/svg";
  const BASE = '<rect x="11" y="34" width="23" height="5.5" rx="2"/>';
  const PIECES = {
    p: '<circle cx="22.5" cy="14.5" r="5.5"/><path d="M22.5 19.5C17 23 17 28 15 34H30C28 28 28 23 22.5 19.5Z"/>' + BASE,
    r: '<path d="M12 9h5v4h3.5V9h4v4H28V9h5v9l-3 3v10l3 3H12l3-3V21l-3-3Z"/>' + BASE,
    n: '<path d="M14 34C14 27 19 25 20 20C17 22 15 25 12 25C9 25 8.5 22 10.5 19.5L15 12C15.5 9.5 17 9 17.5 6.5L21 10C30 11 33 20 32 34Z"/><circle class="eye" cx="17.5" cy="14.5" r="1"/>' + BASE,
    b: '<circle cx="22.5" cy="8" r="2.6"/><path d="M22.5 10.5C30 16 31 23 27 29H18C14 23 15 16 22.5 10.5Z"/><path class="line" d="M22.5 16v8M19 20h7"/><path d="M17 30h11l2 4H15Z"/>' + BASE,
    q: '<path d="M9 13L14 30H31L36 13L29 22L27 9L22.5 21L18 9L16 22Z"/><circle cx="9" cy="12" r="2"/><circle cx="18" cy="8" r="2"/><circle cx="27" cy="8" r="2"/><circle cx="36" cy="12" r="2"/><path d="M14 30.5h17l1 3.5H13Z"/>' + BASE,
    k: '<path class="cross" d="M22.5 4.5v9M19 8h7"/><path d="M22.5 13.5C26 13.5 27 18 24.5 22C30 15 38 20 34 27L31 34H14L11 27C7 20 15 15 20.5 22C18 18 19 13.5 22.5 13.5Z"/>' + BASE,
  };
  const square = (name) => name.charCodeAt(0) - 97 + 8 * (name.charCodeAt(1) - 49);

  // The board of a FEN: 64 letters from a1, "" for an empty square.
  function parse(fen) {
    const board = Array(64).fill("");
    fen.split(" ")[0].split("/").forEach((row, down) => {
      let file = 0;
      for (const c of row) {
        if (c >= "1" && c <= "8") file += Number(c);
        else board[(7 - down) * 8 + file++] = c;
      }
    });
    return board;
  }

  function element(name, attributes, parent) {
    const made = document.createElementNS(NS, name);
    for (const key in attributes) made.setAttribute(key, attributes[key]);
    parent.appendChild(made);
    return made;
  }

  // Draws a board, 64 letters from a1, into an SVG element of 360 units; `lit` are squares to mark.
  function draw(svg, board, lit, flipped) {
    svg.replaceChildren();
    for (let at = 0; at < 64; at++) {
      const file = at % 8, rank = (at - file) / 8;
      const x = 45 * (flipped ? 7 - file : file), y = 45 * (flipped ? rank : 7 - rank);
      const shade = (file + rank) % 2 ? "light" : "dark";
      element("rect", { x, y, width: 45, height: 45, class: shade + (lit.includes(at) ? " lit" : "") }, svg);
      if (x === 0) element("text", { x: 2, y: y + 10, class: shade }, svg).textContent = rank + 1;
      if (y === 315) element("text", { x: x + 37, y: 357, class: shade }, svg).textContent = "abcdefgh"[file];
      const c = board[at];
      if (c !== "" && PIECES[c.toLowerCase()]) {
        const white = c === c.toUpperCase();
        element("g", { transform: `translate(${x} ${y})`, class: white ? "white" : "black" }, svg).innerHTML = PIECES[c.toLowerCase()];
      }
    }
  }

  return { square, parse, draw };
})();
