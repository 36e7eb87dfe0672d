// Package crowd bounds how many connections a server of HTTP has. One that sends its request slowly, or none at all, loses its place
// to the next: then nobody keeps others out, and a relay keeps the file descriptors that its database and brokers need.
package crowd
