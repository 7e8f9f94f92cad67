//! Frequent queries use an index.

use rusqlite::Connection;

use super::{Durability, chunk_rows, file, sessions};

fn explain_query_plan(connection: &Connection, sql: &str) -> String {
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
    let _lock = file::create_and_lock_directory(dir.path()).unwrap();
    let mut connection =
        file::open_writer(&dir.path().join(file::DATABASE_FILE_NAME), Durability::Window).unwrap();
    file::migrate_schema(&mut connection).unwrap();

    let list = explain_query_plan(&connection, &sessions::build_list_sessions_sql(0));
    assert!(list.contains("SEARCH sessions USING INDEX sessions_listed"), "{list}");
    assert!(!list.contains("TEMP B-TREE") && !list.contains("SCAN sessions"), "{list}");

    let list_plan = explain_query_plan(&connection, &sessions::build_list_sessions_sql(2));
    assert!(
        !list_plan.contains("SCAN sessions") && !list_plan.contains("SCAN texts"),
        "{list_plan}"
    );

    for sql in [chunk_rows::FIRST_CHUNK_SQL, chunk_rows::CHUNKS_FROM_SQL] {
        let read_plan = explain_query_plan(&connection, sql);
        assert!(
            read_plan.contains("SEARCH chunks USING PRIMARY KEY (session=? AND first"),
            "{read_plan}"
        );
        assert!(!read_plan.contains("TEMP B-TREE"), "{read_plan}");
    }
}
