// Package console shows the boxes of one database or several over HTTP: what waits and since when, what is wrong, messages and
// their fate, relays, what operators did. Programs read it as JSON below /api/v1 (see /api/v1/openapi.json), people as pages.
//
// It changes nothing, unless Options.Commands lets operators do so. Without a login it answers everybody who reaches it. Put that of package login before it, or your
// own with [WithUser]. Or listen on a loopback address and wrap it in [Loopback].
//
// It does no harm to a database. In each, one question is under way beside that of the overview. Each has a time-out, and looks at
// a bounded number of rows. However many people look, the state of a database is read at most once in two seconds. It holds
// nothing in a database, so that its end leaves nothing behind. If Database.Replica names a replica, that is read where the moment
// does not matter, and each answer says how old it may be.
package console
