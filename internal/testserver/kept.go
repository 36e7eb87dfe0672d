package testserver

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// keptFile is in the data of a server that is meant to be kept: it has the password, and says that the data is whole.
const keptFile = "testserver.password"

// isKept says whether a folder has the data of a server that was kept.
func isKept(data string) bool {
	_, err := os.Stat(filepath.Join(data, keptFile))
	return err == nil
}

// keepPassword fills the data of a new server, and returns its password. Data that was kept has its own, and is left as it is.
func keepPassword(kept bool, data, password string, as *account, fill func() error) (string, error) {
	if !kept {
		return password, fill()
	}
	file := filepath.Join(data, keptFile)
	if text, err := os.ReadFile(file); err == nil {
		return strings.TrimSpace(string(text)), nil
	} else if !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	if err := fill(); err != nil {
		return "", err
	}
	return password, errors.Join(os.WriteFile(file, []byte(password+"\n"), 0o600), as.own(file))
}
