// Boards of the positions, drawn as they come into view, and the choice of positions.
(() => {
  "use strict";
  const articles = [...document.querySelectorAll("#positions article")];
  const menu = document.getElementById("shown"), count = document.getElementById("count");

  function draw(svg) {
    const lit = svg.dataset.lit ? svg.dataset.lit.split(" ").map(chessboard.square) : [];
    chessboard.draw(svg, chessboard.parse(svg.dataset.fen), lit, svg.dataset.fen.split(" ")[1] === "b");
  }
  const seen = new IntersectionObserver((entries) => entries.forEach((entry) => {
    if (entry.isIntersecting) { seen.unobserve(entry.target); draw(entry.target); }
  }), { rootMargin: "400px" });
  articles.forEach((article) => seen.observe(article.querySelector(".board")));
  addEventListener("beforeprint", () => articles.forEach((article) => draw(article.querySelector(".board"))));

  function choose() {
    let shown = 0;
    for (const article of articles) {
      const missed = article.dataset.missed.split(" ").filter(Boolean);
      const is = menu.value === "" || (menu.value === "missed" ? missed.length > 0 : missed.includes(menu.value));
      article.hidden = !is;
      shown += is;
    }
    count.textContent = `${shown} of ${articles.length}`;
  }
  menu.addEventListener("change", choose);
  choose();
})();
