// Package houserules holds the repository to its architecture, by tests that read the sources of all modules:
//
//   - imports: who may import whom (imports_test.go has the table), and which module may require what;
//   - sizes: no file over 600 lines, no function over 60;
//   - every package says in its doc.go what it is;
//   - modules: each is in go.work, and builds from a checkout without it;
//   - words: plain ones, short sentences in the documentation, no path of somebody's machine, no skip without a reason.
//
// The sources are parsed, not built: a rule also holds for code of another system, and for a package that does not
// compile at the moment.
package houserules
