package houserules_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What is the same in the stores over database/sql is done in sqlkit. Each store declares the methods, so that go doc
// shows them, and the files with these declarations are the same but for the name of the package.
func TestTheSharedMethodsOfStoresAreDeclaredAlike(t *testing.T) {
	t.Parallel()
	root := open(t).root
	texts := make(map[string]string)
	for _, store := range []string{"mysqlstore", "sqlitestore"} {
		text, err := os.ReadFile(filepath.Join(root, "store", store, "shared.go"))
		if err != nil {
			t.Fatal(err)
		}
		texts[store] = strings.Replace(string(text), "package "+store+"\n", "package\n", 1)
	}
	if texts["mysqlstore"] != texts["sqlitestore"] {
		t.Error("store/mysqlstore/shared.go and store/sqlitestore/shared.go differ: make the same change in both, or move the method that differs out of shared.go")
	}
}
