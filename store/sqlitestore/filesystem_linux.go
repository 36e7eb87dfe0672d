package sqlitestore

import "syscall"

// remoteFileSystem names the kind of file system that path lies on if SQLite is
// not safe there. The numbers are those of statfs(2).
func remoteFileSystem(path string) string {
	var st syscall.Statfs_t
	if syscall.Statfs(path, &st) != nil {
		return ""
	}
	switch uint32(st.Type) {
	case 0x6969:
		return "NFS"
	case 0x517b, 0xff534d42, 0xfe534d42:
		return "SMB"
	case 0x01021997:
		return "9p"
	case 0x5346414f:
		return "AFS"
	}
	return ""
}
