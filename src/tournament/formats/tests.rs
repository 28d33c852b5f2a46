use super::*;

/// Parameters that are complete for `format`.
fn complete(format: &Definition) -> Parameters {
    let given = |key: &str| format.takes.contains(&key);
    let rule = RaceRule { alpha: 0.05, gain: 1.0, close: 2.0, step: 8 };
    Parameters {
        heroes: given("heroes").then_some(2),
        rounds: given("rounds").then_some(3),
        race: given("race").then_some(rule),
        tune: given("tune").then(|| tune::tests::rule("auto")),
    }
}

#[test]
fn every_format_is_read_by_its_name_and_parameters() {
    for definition in FORMATS {
        let parameters = complete(definition);
        let read = Format::read(definition.name, &parameters).expect("complete parameters");
        assert_eq!((read.name(), read.parameters()), (definition.name, parameters.clone()));
        if definition.choose.is_some() {
            assert_eq!(Format::choose(Some(definition.name), &parameters, 5), Ok(read), "{}", definition.name);
        }
        // A stored plan names all of its parameters, and no other format's.
        if !definition.takes.is_empty() {
            assert_eq!(Format::read(definition.name, &Parameters::default()), None, "{}", definition.name);
        }
        for other in FORMATS.into_iter().filter(|other| other.takes != definition.takes && !other.takes.is_empty()) {
            assert_eq!(Format::read(definition.name, &complete(other)), None, "{} {}", definition.name, other.name);
        }
    }
    assert_eq!(Format::read("swis", &Parameters::default()), None);
}

#[test]
fn formats_are_chosen_with_defaults() {
    let none = Parameters::default;
    let heroes = |heroes| Parameters { heroes: Some(heroes), ..none() };
    let rounds = |rounds| Parameters { rounds: Some(rounds), ..none() };
    let cases = [
        (None, none(), 5, "round-robin", none()),
        (None, heroes(4), 5, "gauntlet", heroes(4)),
        (Some("gauntlet"), none(), 5, "gauntlet", heroes(1)),
        (Some("swiss"), none(), 2, "swiss", rounds(2)),
        (Some("swiss"), none(), 8, "swiss", rounds(4)),
        (Some("swiss"), none(), 9, "swiss", rounds(5)),
        (Some("swiss"), rounds(1_000), 9, "swiss", rounds(1_000)),
    ];
    for (name, given, players, expected, parameters) in cases {
        let chosen = Format::choose(name, &given, players).map(|format| (format.name(), format.parameters()));
        assert_eq!(chosen, Ok((expected, parameters)), "{name:?} {given:?} {players}");
    }
}

#[test]
fn what_cannot_be_played_is_named_with_the_remedy() {
    let none = Parameters::default;
    let heroes = |heroes| Parameters { heroes: Some(heroes), ..none() };
    let rounds = |rounds| Parameters { rounds: Some(rounds), ..none() };
    let cases = [
        (
            Some("swis"),
            none(),
            "--format: unknown format `swis`: use round-robin, gauntlet, swiss, knockout or pyramid",
        ),
        // A race is a command of its own.
        (
            Some("race"),
            none(),
            "--format: unknown format `race`: use round-robin, gauntlet, swiss, knockout or pyramid",
        ),
        (Some("swiss"), heroes(1), "only a gauntlet has heroes; leave out --heroes, or use --format gauntlet"),
        (None, rounds(1), "only a Swiss has rounds; leave out --rounds, or use --format swiss"),
        (Some("gauntlet"), rounds(1), "only a Swiss has rounds; leave out --rounds, or use --format swiss"),
        (None, heroes(0), "0 heroes of 5 players: 1 to 4, so that they have an opponent"),
        (None, heroes(5), "5 heroes of 5 players: 1 to 4, so that they have an opponent"),
        (Some("swiss"), rounds(0), "--rounds 0: 1 to 1000"),
        (Some("swiss"), rounds(1_001), "--rounds 1001: 1 to 1000"),
    ];
    for (name, given, expected) in cases {
        let message = Format::choose(name, &given, 5).map_err(|error| error.to_string());
        assert_eq!(message, Err(expected.to_owned()), "{name:?} {given:?}");
    }
}
