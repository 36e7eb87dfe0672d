package testserver

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Variables that name other servers than those that scripts/setup installs.
const (
	mysqlEnv   = "POSTBAG_MYSQLD"
	mariadbEnv = "POSTBAG_MARIADBD"
)

// initFile is run by the server at each start, before it accepts connections. It lies in the data directory.
const initFile = "postbag-init.sql"

// mysqlPrograms are the programs of one server.
type mysqlPrograms struct {
	name    string // in error messages
	server  string
	install string // mariadb-install-db; empty: the server initialises itself
	version string
	// first are the arguments that must come first, and settings those that only this server knows.
	first    []string
	settings map[string]string
}

// findMySQL looks for the server where the environment says, else where scripts/setup puts it, else in PATH.
func findMySQL(ctx context.Context, oracle bool) (mysqlPrograms, error) {
	p, env := mysqlPrograms{name: "MariaDB"}, mariadbEnv
	candidates := []string{os.Getenv(mariadbEnv), "/usr/sbin/mariadbd", "mariadbd"}
	p.first = []string{"--no-defaults"}
	if oracle {
		p.name, env = "MySQL", mysqlEnv
		cache, err := cacheFolder()
		if err != nil {
			return p, err
		}
		candidates = []string{os.Getenv(mysqlEnv), filepath.Join(cache, "mysql-9", "bin", "mysqld")}
		p.first, p.settings = nil, map[string]string{"mysqlx": "OFF", "secure-file-priv": "NULL"} // the wrapper there gives --no-defaults
	}
	for _, path := range candidates {
		if found, err := exec.LookPath(path); path != "" && err == nil {
			// The user's cache folder is closed to the server's account; what it links to may be open.
			if p.server, err = filepath.EvalSymlinks(found); err != nil {
				return p, err
			}
			break
		}
	}
	if !oracle && p.server != "" {
		p.install, _ = exec.LookPath("mariadb-install-db")
	}
	if p.server == "" || !oracle && p.install == "" {
		return p, &MissingError{What: "the server programs of " + p.name, Fix: "run scripts/setup, or set " + env + " to the server's path"}
	}
	out, err := command{name: p.name + " --version", path: p.server, args: append(p.first, "--version")}.run(ctx)
	p.version = strings.TrimSpace(out)
	return p, err
}

// mysqlTemplate returns an initialised data directory of this version, made if there is none: see postgresTemplate.
func mysqlTemplate(ctx context.Context, programs mysqlPrograms, as *account) (template, error) {
	cache, err := cacheFolder()
	if err != nil {
		return template{}, err
	}
	sum := sha256.Sum256([]byte(programs.server + "\n" + programs.version))
	home := filepath.Join(cache, strings.ToLower(programs.name)+"-"+hex.EncodeToString(sum[:6]))
	if t, err := readTemplate(home); err == nil {
		return t, nil
	}
	if err := makeMySQLTemplate(ctx, programs, as, home); err != nil {
		return template{}, err
	}
	return readTemplate(home)
}

func makeMySQLTemplate(ctx context.Context, p mysqlPrograms, as *account, home string) (err error) {
	work, err := newFolder("mysql-init", false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, work.Close()) }()
	data := filepath.Join(work.path, "data")
	if err := errors.Join(os.Mkdir(data, 0o700), as.own(data)); err != nil {
		return err
	}
	c := command{name: "the initialisation of " + p.name, path: p.server, as: as}
	c.args = append(p.first, "--initialize-insecure", "--datadir="+data, "--tmpdir="+data, "--innodb-redo-log-capacity=32M") //nolint:gocritic // p is ours
	if p.install != "" {
		c.path = p.install
		c.args = []string{"--no-defaults", "--datadir=" + data, "--skip-test-db", "--auth-root-authentication-method=normal"}
	}
	if _, err := c.run(ctx); err != nil {
		return err
	}
	password := strings.ToLower(rand.Text())
	orders := fmt.Sprintf("SET sql_log_bin = 0;\nCREATE USER IF NOT EXISTS 'root'@'127.0.0.1';\n"+
		"ALTER USER 'root'@'127.0.0.1' IDENTIFIED BY '%s';\nGRANT ALL PRIVILEGES ON *.* TO 'root'@'127.0.0.1' WITH GRANT OPTION;\n", password)
	return errors.Join(
		os.WriteFile(filepath.Join(data, initFile), []byte(orders), 0o600),
		os.WriteFile(filepath.Join(work.path, "password"), []byte(password+"\n"), 0o600),
		keepTemplate(work.path, home),
	)
}
