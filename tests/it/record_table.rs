//! `quintain records`: the tables of results/README.md are those of results/records.csv.

use std::path::Path;

use crate::harness::quintain;

/// Line of the page after which the tables stand.
const MARK: &str = "<!-- Made by `quintain records results/records.csv`. -->\n\n";

fn records(args: &[&str]) -> std::process::Output {
    quintain(&[&["records"], args].concat()).current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap()
}

#[test]
fn the_page_of_results_is_made_from_the_records() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("results/README.md");
    let page = std::fs::read_to_string(page).unwrap();
    let (_, tables) = page.split_once(MARK).expect("the mark before the tables");
    let output = records(&["results/records.csv"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let made = String::from_utf8(output.stdout).unwrap();
    for (number, (made, stands)) in made.lines().zip(tables.lines()).enumerate() {
        assert_eq!(made, stands, "line {number} of the tables; print them anew after {MARK}");
    }
    assert_eq!(made.len(), tables.len(), "the tables on the page are shorter or longer than those of the command");
}

#[test]
fn a_folder_that_stands_in_the_records_has_their_counts() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("results");
    let output = records(&["results/records.csv", "--csv"]);
    let mut reader = csv::Reader::from_reader(output.stdout.as_slice());
    let mut linked = 0;
    for line in reader.records() {
        let line = line.unwrap();
        let (counts, folder) = (&line[4], &line[10]);
        if !folder.is_empty() {
            let summary = std::fs::read(root.join(folder).join("summary.json")).unwrap();
            let summary: serde_json::Value = serde_json::from_slice(&summary).unwrap();
            assert_eq!(summary["ptnml"].to_string(), format!("[{counts}]"), "{folder}");
            linked += 1;
        }
    }
    assert!(linked >= 5, "{linked}");
}

#[test]
fn a_fault_of_a_file_is_one_line_with_its_place() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("bad.csv");
    std::fs::write(
        &file,
        "date,topic,step,new,base,limit,bounds,seed,options,ptnml,folder\n\
         2026-11-21,t,s,git:b,git:a,nodes=5,\"0,20\",1,,\"1,2\",\n",
    )
    .unwrap();
    let file = file.to_str().unwrap();
    let output = records(&[file]);
    assert_eq!(output.status.code(), Some(2));
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains(&format!("{file}:2: ptnml `1,2`: write the pairs with")), "{error}");
    let output = records(&["/nowhere.csv"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("/nowhere.csv: cannot read it; give a file of records"));
}
