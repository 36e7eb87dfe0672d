// Package servertest starts the servers of package testserver for tests. It ends them with the test, and shows their log
// when the test has failed. If a server is not installed, it skips the test with a reason. With CI=true or
// POSTBAG_REQUIRE_SERVERS=1 in the environment it fails the test instead.
//
// A test that harms its server starts its own:
//
//	pg := servertest.Postgres(t, testserver.PostgresOptions{})
//
// A test that can run long asks [Full].
//
// Tests that only need a database share one server for the whole package, and each gets a database of its own:
//
//	var shared servertest.SharedPostgres
//
//	func TestMain(m *testing.M) { os.Exit(shared.Run(m)) }
//
//	func TestX(t *testing.T) {
//		dsn := shared.Database(t)
//	}
package servertest
