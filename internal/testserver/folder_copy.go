package testserver

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// copyTree copies folders, files and links, with their modes, and gives the copies to the account. Sockets are left out.
func copyTree(from, to string, as *account) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.Type()&fs.ModeSocket != 0 {
			return nil
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		if err := copyPath(path, target, entry); err != nil {
			return err
		}
		return as.own(target)
	})
}

func copyPath(path, target string, entry fs.DirEntry) error {
	info, err := entry.Info()
	if err != nil {
		return err
	}
	switch {
	case entry.IsDir():
		if err := os.MkdirAll(target, 0o700); err != nil {
			return err
		}
		return os.Chmod(target, info.Mode().Perm())
	case entry.Type()&fs.ModeSymlink != 0:
		link, err := os.Readlink(path)
		if err != nil {
			return err
		}
		return os.Symlink(link, target)
	default:
		return copyFile(path, target, info.Mode().Perm())
	}
}

func copyFile(path, target string, mode fs.FileMode) (err error) {
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	out, err := os.OpenFile(target, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	_, err = io.Copy(out, in)
	return err
}
