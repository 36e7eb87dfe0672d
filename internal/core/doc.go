// Package core decides for a whole relay what package engine decides for one flow: when a
// heartbeat is due and what it asks for, what a view of the store means, when a turn is
// made, what a failure of the store puts off, how a relay begins again, does the
// housekeeping, stops, and drains. It is pure: no clock, no goroutine, no I/O. Time is a
// duration that the caller passes in, chance and ids are functions in [Options].
//
// Its caller is the goroutine shell in package relay, or a simulator. Both run this code,
// so that what the simulator shows is true of the relay. A caller calls Collect and Step
// whenever something happened or Wait is over. Then, and behind each answer that it
// hands in, it carries out the [Operation] values that Operations returns:
//
//	Beat          a heartbeat, ends with Beaten
//	Turn          a round of settling and reading, ends with Landed
//	Check         verifies the store, ends with Checked
//	Load          reads the blocked keys of shards, ends with LoadEnded
//	Enter         enters an exactly-once lane by a [Course], ends with AcquisitionEnded
//	Send, Try     a call to the destination, ends with Answered; of an exactly-once flow
//	              it is a Course, which ends with TransactionEnded first
//	Probe         asks whether it works again, ends with Probed of the flow's engine
//	Due           reads parked messages, ends with DueCame
//	Maintain      a round of housekeeping, ends with Maintained
//	EndMaintain, EndCall, EndCalls, DropLane
//	              something under way is not waited for any more
//	Stopping, Expired, NewIdentity, Reshaped, Vanished, Returned, Back
//	              nothing to do: something that somebody may want to be told
//
// What a call to the store came to is a [Fault].
package core
