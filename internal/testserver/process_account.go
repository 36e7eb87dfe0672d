package testserver

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
)

// account is a user of the system under which a server runs.
type account struct {
	uid, gid uint32
	groups   []uint32
}

// unprivileged returns the account for PostgreSQL, see accountNamed.
func unprivileged() (*account, error) { return accountNamed("postgres", "PostgreSQL") }

// accountNamed returns the account for a server that refuses to run as root: that of its package when we are root, else
// nil, which means our own.
func accountNamed(name, server string) (*account, error) {
	if os.Geteuid() != 0 {
		return nil, nil //nolint:nilnil // nil is our own account
	}
	u, err := user.Lookup(name)
	if err != nil {
		return nil, &MissingError{
			What: "the account " + name + ", under which root runs " + server + ",",
			Fix:  "run scripts/setup (it installs the package), or do not run as root",
		}
	}
	uid, errU := strconv.ParseUint(u.Uid, 10, 32)
	gid, errG := strconv.ParseUint(u.Gid, 10, 32)
	if errU != nil || errG != nil {
		return nil, fmt.Errorf("testserver: the account %s has ids %q and %q: numbers were expected", name, u.Uid, u.Gid)
	}
	a := &account{uid: uint32(uid), gid: uint32(gid)}
	ids, _ := u.GroupIds() // without them it could not read the machine's TLS key, which it does not need
	for _, id := range ids {
		if n, err := strconv.ParseUint(id, 10, 32); err == nil {
			a.groups = append(a.groups, uint32(n))
		}
	}
	return a, nil
}

// own gives a file or an empty folder to the account.
func (a *account) own(path string) error {
	if a == nil {
		return nil
	}
	return os.Lchown(path, int(a.uid), int(a.gid))
}

// reach checks that the account may pass through every folder above path.
func (a *account) reach(path string) error {
	if a == nil {
		return nil
	}
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o001 == 0 && !a.owns(info) {
			return fmt.Errorf("testserver: the server's account cannot reach %s: %s is closed to it: chmod o+x it "+
				"or choose another folder", path, dir)
		}
		if dir == filepath.Dir(dir) {
			return nil
		}
	}
}
