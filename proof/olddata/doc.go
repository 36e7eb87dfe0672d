// Package olddata migrates boxes that an older version made, in place and under load. testdata has a dump of such a box on each
// database: the schema and some messages as the version of [Before] left them. The tests load a dump, let writers publish
// into it, and migrate it to the newest schema while a relay begins to deliver. With POSTBAG_FULL=1 a relay of that version, built
// from its commit, works beside the new one until it is stopped, as the last one of an upgrade. Nothing may be lost or repeated.
package olddata

// Before is the commit whose schema the dumps have, and whose program is the older one.
const Before = "1dedaafaf10f7317d9ac0fbfef6a477145dda05b"
