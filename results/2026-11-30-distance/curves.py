#!/usr/bin/env python3
"""Draws curves.svg from the measurements of LEARNT.md: python3 curves.py > curves.svg"""
import math

# Millions of positions, loss on other engines' games against scores. Trials: 256 neurons from random weights, the second of two seeds.
# Stages: distinct positions learned from so far, the earlier stages included.
TRIALS = [(0.77, 0.01692), (1.5, 0.01470), (3.1, 0.01357), (6.1, 0.01327), (12.3, 0.01285)]
STAGES = [("4", 79, 0.01171), ("5", 86, 0.01079), ("6", 180, 0.00997), ("", 513, 0.00965), ("7, 8", 660, 0.00956), ("9", 1511, 0.00892)]
# The loss, Elo and its standard error: trials in a round robin at 5,000 nodes; stages by the sums of tests at 7,000 nodes, fifth = 0.
TRIAL_ELO = [(0.01692, -260, 22), (0.01470, -93, 17), (0.01357, 14, 19), (0.01327, 79, 19), (0.01285, 97, 17), (0.01246, 163, 18)]
STAGE_ELO = [("5", 0.01079, 0, 0), ("6", 0.00997, 34, 9.3), ("", 0.00965, 92, 15), ("7, 8", 0.00956, 106, 16), ("9", 0.00892, 127, 18)]
# Neurons, Elo at equal nodes and at equal time, both with their standard errors.
WIDTHS = [(64, -60, 24, -94, 19), (128, -45, 21, -4, 17), (256, 0, 0, 0, 0), (512, 53, 22, -26, 19), (1024, 28, 21, -81, 21)]

STYLE = """
.qp{font-family:system-ui,-apple-system,"Segoe UI",Helvetica,Arial,"DejaVu Sans",sans-serif}
.qp .page{fill:#fff}.qp text{fill:#57606a;font-size:12px}.qp .title{fill:#1b1f24;font-size:14px;font-weight:600}
.qp .grid{stroke:#dfe4ea}.qp .a{stroke:#0062a3;fill:none;stroke-width:2}.qp .b{stroke:#b84a00;fill:none;stroke-width:2;stroke-dasharray:6 3}
.qp circle.a{fill:#0062a3}.qp circle.b{fill:#b84a00;stroke-dasharray:none}.qp text.a{fill:#0062a3;stroke:none}.qp text.b{fill:#b84a00;stroke:none}
@media (prefers-color-scheme:dark){.qp .page{fill:#0d1117}.qp text{fill:#9aa4af}.qp .title{fill:#e6edf3}.qp .grid{stroke:#30363d}
.qp .a{stroke:#58a6ff}.qp circle.a,.qp text.a{fill:#58a6ff}.qp .b{stroke:#f0883e}.qp circle.b,.qp text.b{fill:#f0883e}}
"""
LEFT, TOP, WIDTH, HEIGHT, STEP = 62, 50, 280, 250, 370


class Panel:
    """One of three diagrams side by side."""

    def __init__(self, number, title, x_label, x_ticks, y_ticks, x_map=float):
        self.left, self.x_map = LEFT + STEP * number, x_map
        self.x_range = [x_map(x_ticks[0][0]), x_map(x_ticks[-1][0])]
        self.y_range = y_ticks[0][0], y_ticks[-1][0]
        print(f'<text class="title" x="{self.left - 40}" y="26">{title}</text>')
        for value, label in x_ticks:
            x = self.x(value)
            print(f'<path class="grid" d="M{x:.1f} {TOP}v{HEIGHT}"/><text x="{x:.1f}" y="{TOP + HEIGHT + 18}" text-anchor="middle">{label}</text>')
        for value, label in y_ticks:
            y = self.y(value)
            print(f'<path class="grid" d="M{self.left} {y:.1f}h{WIDTH}"/><text x="{self.left - 6}" y="{y + 4:.1f}" text-anchor="end">{label}</text>')
        print(f'<text x="{self.left + WIDTH / 2}" y="{TOP + HEIGHT + 38}" text-anchor="middle">{x_label}</text>')

    def x(self, value):
        low, high = self.x_range
        return self.left + WIDTH * (self.x_map(value) - low) / (high - low)

    def y(self, value):
        low, high = self.y_range
        return TOP + HEIGHT * (1 - (value - low) / (high - low))

    def line(self, kind, points, name, at):
        """Draws points (label, x, y, standard error) with 95 % intervals, and the name of the line."""
        places = [(self.x(x), self.y(y)) for _, x, y, _ in points]
        print(f'<path class="{kind}" d="M' + "L".join(f"{x:.1f} {y:.1f}" for x, y in places) + '"/>')
        for (label, x, y, error), (px, py) in zip(points, places):
            if error:
                low, high = (min(max(self.y(y + side * 1.96 * error), TOP), TOP + HEIGHT) for side in (-1, 1))
                print(f'<path class="{kind}" style="stroke-width:1;stroke-dasharray:none" d="M{px:.1f} {low:.1f}V{high:.1f}"/>')
            print(f'<circle class="{kind}" cx="{px:.1f}" cy="{py:.1f}" r="3.5"/><text class="{kind}" x="{px + 6:.1f}" y="{py - 6:.1f}">{label}</text>')
        print(f'<text class="{kind}" x="{self.left + at[0]}" y="{TOP + at[1]}">{name}</text>')


def main():
    width, height = LEFT + 3 * STEP - 40, TOP + HEIGHT + 56
    print(f'<svg xmlns="http://www.w3.org/2000/svg" class="qp" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">')
    print("<title>Loss against positions, Elo against loss, Elo against width</title>")
    print(f'<style>{STYLE}</style><rect class="page" width="{width}" height="{height}"/>')
    losses = [(loss / 1000, f"0.{loss:03d}") for loss in range(8, 19, 2)]
    panel = Panel(0, "Loss on other engines' games", "million positions", [(n, str(n)) for n in (0.5, 5, 50, 500, 5000)], losses, math.log10)
    panel.line("b", [("", x, y, 0) for x, y in TRIALS], "256 neurons, random start", (110, 75))
    panel.line("a", [(name, x, y, 0) for name, x, y in STAGES], "stages 4 to 9", (190, 130))
    elos = [(elo, f"{elo:+d}") for elo in range(-300, 301, 100)]
    panel = Panel(1, "Elo against loss", "loss on other engines' games", losses[::-1], elos, lambda loss: -loss)
    panel.line("b", [("", x, y, e) for x, y, e in TRIAL_ELO], "256 neurons, mean = 0", (95, 238))
    panel.line("a", [(name, x, y, e) for name, x, y, e in STAGE_ELO], "stages, fifth = 0", (160, 150))
    elos = [(elo, f"{elo:+d}") for elo in range(-150, 151, 50)]
    panel = Panel(2, "Elo against width", "neurons for each side (256 = 0)", [(2**n, str(2**n)) for n in range(6, 11)], elos, math.log2)
    panel.line("a", [("", n, y, e) for n, y, e, _, _ in WIDTHS], "equal nodes", (150, 40))
    panel.line("b", [("", n, y, e) for n, _, _, y, e in WIDTHS], "equal time", (150, 230))
    print("</svg>")


main()
