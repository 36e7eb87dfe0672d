package config

import "net"

// AdminConsoleMistake is what keeps the admin listener from serving the console, with the name of the setting; empty: nothing
// does. Without a login only loopback addresses are let in, and passwords must not go over the network in the open.
func (f *File) AdminConsoleMistake() (setting, mistake string) {
	return f.AdminConsoleMistakeAt(f.Admin.Listen)
}

// AdminConsoleMistakeAt is AdminConsoleMistake of a listener at an address. Ask it once more with the address that the listener
// got: a name, localhost too, leads where the machine's tables say.
func (f *File) AdminConsoleMistakeAt(address string) (setting, mistake string) {
	c := &f.Console
	host, _, err := net.SplitHostPort(address)
	switch {
	case !f.Admin.Console:
		return "", ""
	case f.Admin.Listen == "":
		return "admin.console", "has no address; set admin.listen, or pass --admin"
	case err == nil && isHere(host):
		return "", ""
	case c.Access == "":
		return "admin.console", "would be open to other machines, since admin.listen is no loopback address and there is no login; name the file with the rights in console.access, or listen at 127.0.0.1"
	case len(c.Proxy.Addresses) == 0:
		return "admin.console", "would have passwords go over the network in the open, since admin.listen is no loopback address and has no TLS; name the addresses of a proxy that browsers reach by https in console.proxy.addresses, or listen at 127.0.0.1"
	}
	return "", ""
}

// checkAdminConsole says so of a file. The address may also come from a flag.
func (f *File) checkAdminConsole() {
	if setting, mistake := f.AdminConsoleMistake(); mistake != "" && f.Admin.Listen != "" {
		f.problems.atf(setting, "%s", mistake)
	}
}
