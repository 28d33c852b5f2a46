//! Warning before the first game if the run's book is likely to be played through.

use crate::plan::Plan;
use crate::stats::simulate;
use crate::stats::sprt::Sprt;

/// Returns the warning if the run may need more pairs than the book has openings.
pub(crate) fn warning(plan: &Plan) -> Option<String> {
    if plan.count_repeats {
        return None;
    }
    let fresh = plan.fresh_pairs();
    let expected = plan.test.and_then(|test| {
        let sprt = Sprt::new(test.bounds, test.model, test.alpha, test.beta).ok()?;
        simulate::most_expected_pairs(&sprt)
    });
    let asked = plan.max_pairs.filter(|pairs| *pairs > fresh);
    let wanted = match (expected, asked) {
        (Some(expected), _) if expected <= fresh as f64 => return None,
        (Some(_), None) if plan.max_pairs.is_some() => return None,
        (Some(expected), _) => format!("the test takes up to {expected:.0} pairs on average"),
        (None, Some(pairs)) => format!("{pairs} pairs are requested"),
        (None, None) => return None,
    };
    let openings = match fresh {
        1 => "is exhausted after 1 pair".to_owned(),
        _ => format!("is exhausted after {fresh} pairs"),
    };
    let whose = if plan.players.len() > 2 { " of any two players" } else { "" };
    let definition = plan.format.definition();
    let then = if definition.needs_fresh_openings {
        format!("{} ends there without a winner if it has none by then", definition.title)
    } else if plan.ends_with_book() {
        "at fixed nodes or depth the run ends there, because the same games would come again".to_owned()
    } else {
        "from there on openings come again, and pairs of one opening count for less".to_owned()
    };
    Some(format!(
        "{wanted}, and the book {openings}{whose}: {then}; a larger --book lasts longer (`quintain book make` makes one)"
    ))
}
