//! What is asked often is answered from an index.

use rusqlite::Connection;

use super::{Durability, file, rows, sessions};

fn plan(connection: &Connection, sql: &str) -> String {
    let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
    // The plan does not depend on the values.
    let mut lines = statement.raw_query();
    let mut plan = String::new();
    while let Some(line) = lines.next().unwrap() {
        plan.push_str(&line.get::<_, String>(3).unwrap());
        plan.push('\n');
    }
    plan
}

#[test]
fn listing_and_reading_use_indices_and_sort_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let _lock = file::lock(dir.path()).unwrap();
    let mut connection = file::writer(&dir.path().join(file::NAME), Durability::Window).unwrap();
    file::migrate(&mut connection).unwrap();

    let list = plan(&connection, &sessions::list_sql(0));
    assert!(list.contains("SEARCH sessions USING INDEX sessions_listed"), "{list}");
    assert!(!list.contains("TEMP B-TREE") && !list.contains("SCAN sessions"), "{list}");

    let found = plan(&connection, &sessions::list_sql(2));
    assert!(!found.contains("SCAN sessions") && !found.contains("SCAN texts"), "{found}");

    for sql in [rows::START, rows::STRETCH] {
        let read = plan(&connection, sql);
        assert!(read.contains("SEARCH chunks USING PRIMARY KEY (session=? AND first"), "{read}");
        assert!(!read.contains("TEMP B-TREE"), "{read}");
    }
}
