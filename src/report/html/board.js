// Replays games on a small board: no network, no library. The moves were checked by the referee; this only carries them out.
(() => {
  "use strict";
  const data = JSON.parse(document.getElementById("games").textContent);
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

  // Carries out a move in UCI notation, castling as e1g1 or as king takes rook.
  function play(board, move) {
    const from = square(move), to = square(move.slice(2));
    const piece = board[from], white = piece === piece.toUpperCase();
    const own = (c) => c !== "" && (c === c.toUpperCase()) === white;
    const rank = from - (from % 8);
    if (piece.toLowerCase() === "k" && rank === to - (to % 8) && (own(board[to]) || Math.abs(from - to) === 2)) {
      const short = to > from;
      let rook = to;
      if (!own(board[to])) {
        rook = short ? rank + 7 : rank;
        for (let at = from; at >= rank && at < rank + 8; at += short ? 1 : -1)
          if (board[at].toLowerCase() === "r" && own(board[at])) rook = at;
      }
      const letter = board[rook];
      board[from] = board[rook] = "";
      board[rank + (short ? 6 : 2)] = piece;
      board[rank + (short ? 5 : 3)] = letter;
      return;
    }
    if (piece.toLowerCase() === "p" && from % 8 !== to % 8 && board[to] === "") board[rank + (to % 8)] = "";
    board[to] = move.length > 4 ? (white ? move[4].toUpperCase() : move[4]) : piece;
    board[from] = "";
  }

  // The piece placement of a FEN.
  function placement(board) {
    let text = "";
    for (let rank = 7; rank >= 0; rank--) {
      let empty = 0;
      for (let file = 0; file < 8; file++) {
        const c = board[rank * 8 + file];
        if (c === "") empty++;
        else { text += (empty || "") + c; empty = 0; }
      }
      text += (empty || "") + (rank ? "/" : "");
    }
    return text;
  }

  const words = (text) => (text ? text.split(" ") : []);
  function boardAt(game, ply) {
    const board = parse(game.f);
    words(game.u).slice(0, ply).forEach((move) => play(board, move));
    return board;
  }

  const $ = (id) => document.getElementById(id);
  let game = null, ply = 0, flipped = false;

  function element(name, attributes, parent) {
    const made = document.createElementNS(NS, name);
    for (const key in attributes) made.setAttribute(key, attributes[key]);
    parent.appendChild(made);
    return made;
  }

  function draw() {
    const svg = $("board");
    svg.replaceChildren();
    const board = boardAt(game, ply), moves = words(game.u);
    const last = ply ? moves[ply - 1] : "";
    const lit = last ? [square(last), square(last.slice(2))] : [];
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
    $("ply").textContent = ply === 0 ? "start" : `${ply} of ${moves.length} plies`;
    const k = ply - 1 - game.k;
    const parts = [];
    if (ply > 0 && k < 0) parts.push("book move");
    if (k >= 0) {
      if (game.v[k] !== null) parts.push(`score ${game.v[k]} (White's view)`);
      if (game.d[k] !== null) parts.push(`depth ${game.d[k]}`);
      parts.push(`${(game.c[k] / 1000).toFixed(3)} s`);
    }
    $("said").textContent = parts.join(", ");
    document.querySelectorAll("#moves .now").forEach((now) => now.classList.remove("now"));
    const now = document.querySelector(`#moves [data-ply="${ply}"]`);
    if (now) { now.classList.add("now"); $("moves").scrollTop = now.offsetTop - $("moves").offsetTop - 80; }
  }

  function go(to) { ply = Math.max(0, Math.min(words(game.u).length, to)); draw(); }

  function choose(index) {
    game = data.games[index];
    const list = $("moves");
    list.replaceChildren();
    const fen = game.f.split(" ");
    let number = Number(fen[5]) || 1, white = fen[1] !== "b";
    words(game.s).forEach((san, at) => {
      if (white || at === 0) list.append(`${number}${white ? "." : "..."} `);
      const move = document.createElement("button");
      move.type = "button";
      move.dataset.ply = at + 1;
      move.textContent = san;
      if (at < game.k) move.className = "book";
      list.append(move, " ");
      if (!white) number++;
      white = !white;
    });
    list.append(game.r);
    $("players").textContent = `${data.players[game.w]} (White) against ${data.players[game.b]} (Black)`;
    $("ending").textContent = `${game.r}, ${game.t}${game.x ? ": " + game.x : ""}`;
    go(words(game.u).length);
  }

  if (data.games.length) {
    const menu = $("game");
    data.games.forEach((game, index) => {
      const option = document.createElement("option");
      option.value = index;
      option.textContent = `${game.n}: ${data.players[game.w]} - ${data.players[game.b]} ${game.r} (${game.t})`;
      menu.append(option);
    });
    menu.addEventListener("change", () => choose(Number(menu.value)));
    $("moves").addEventListener("click", (event) => { if (event.target.dataset.ply) go(Number(event.target.dataset.ply)); });
    const steps = { first: () => go(0), back: () => go(ply - 1), forward: () => go(ply + 1), last: () => go(Infinity) };
    for (const id in steps) $(id).addEventListener("click", steps[id]);
    $("flip").addEventListener("click", () => { flipped = !flipped; draw(); });
    $("replay").addEventListener("keydown", (event) => {
      const step = { ArrowLeft: steps.back, ArrowRight: steps.forward, Home: steps.first, End: steps.last }[event.key];
      if (step && event.target.tagName !== "SELECT") { step(); event.preventDefault(); }
    });
    choose(0);
  }

  // Opened with `#check`, the page tries itself and says on its root element how that went: `.ci/report` reads it.
  function check() {
    const wrong = [];
    data.games.forEach((game, index) => {
      choose(index);
      const at = placement(boardAt(game, Infinity));
      if (at !== game.e) wrong.push(`game ${game.n}: ${at} rather than ${game.e}`);
      const men = game.e.replace(/[^a-z]/gi, "").length;
      if (document.querySelectorAll("#board g").length !== men) wrong.push(`game ${game.n}: not all men are drawn`);
      $("first").click();
      if (ply !== 0) wrong.push(`game ${game.n}: no way back to the start`);
    });
    if (document.querySelectorAll(".plots svg").length < 4) wrong.push("pictures are missing");
    document.documentElement.dataset.check = wrong.length ? wrong.join("; ") : `ok ${data.games.length}`;
  }
  if (location.hash === "#check") check();
})();
