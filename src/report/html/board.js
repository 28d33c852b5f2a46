// Replays games on a small board: no network, no library. The moves were checked by the referee; this only carries them out.
(() => {
  "use strict";
  const data = JSON.parse(document.getElementById("games").textContent);
  const { square, parse } = chessboard;

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

  function draw() {
    const board = boardAt(game, ply), moves = words(game.u);
    const last = ply ? moves[ply - 1] : "";
    const lit = last ? [square(last), square(last.slice(2))] : [];
    chessboard.draw($("board"), board, lit, flipped);
    $("ply").textContent = ply === 0 ? "start" : `${ply} of ${moves.length} plies`;
    const k = ply - 1 - game.k;
    const parts = [];
    if (ply > 0 && k < 0) parts.push("book move");
    if (k >= 0) {
      if (game.v[k] !== null) parts.push(`score ${game.v[k]} (White's view)`);
      if (game.d[k] !== null) parts.push(`depth ${game.d[k]}`);
      if (game.c) parts.push(`${(game.c[k] / 1000).toFixed(3)} s`);
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
