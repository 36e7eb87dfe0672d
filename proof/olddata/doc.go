// Package olddata migrates boxes that an older version made, in place and under load. testdata has a dump of such a box on each
// database: the schema and some messages as the version of [Before] left them. The tests load a dump, let writers publish
// into it, and migrate it to the newest schema while a relay begins to deliver. Nothing may be lost or repeated.
//
// A relay of that version, built from its commit, works beside a new one until it is stopped, as the last one of an upgrade. Operators
// pause the subscription, change its filter and its retention meanwhile, rejected messages are superseded, and each relay is killed
// once. No message may be lost, each key must stay in sequence, and the ledger must count each message once. A shallow checkout has not
// the commit: the test is skipped there, and fails with POSTBAG_FULL=1.
package olddata

// Before is the commit whose schema the dumps have, and whose program is the older one.
const Before = "1dedaafaf10f7317d9ac0fbfef6a477145dda05b"
