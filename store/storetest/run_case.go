package storetest

import (
	"slices"

	"github.com/postbag/postbag/store"
)

// scenario is one case of the suite.
type scenario struct {
	name string
	// needs says which features the case is about; nil: every store has it.
	needs func(store.Features) bool
	run   func(*env)
}

func (s scenario) applies(f store.Features) bool { return s.needs == nil || s.needs(f) }

// cases returns the whole suite.
func cases() []scenario {
	return slices.Concat(
		contractCases(), appenderCases(), bytesCases(), transactionCases(), lateCases(),
		readingCases(), pagingCases(), untilCases(), slotCases(), ruleCases(), filterCases(), declareCases(),
		heartbeatCases(), conditionCases(), leaseCases(), reshapeCases(), settleCases(), parkedCases(), dueCases(), heldCases(), supersedeCases(),
		letterCases(), commandCases(), pendingCases(), scheduleCases(), retentionCases(), ledgerCases(), contextCases(),
		crashCases(), concurrencyCases(), inspectorCases(), operatorCases(), pauseCases(), operationCases(), stewardCases(), whereCases(), tuneCases(), editCases(), noteCases(), errorNoteCases(), lifetimeCases(), damageCases(), replayCases(),
		inboxCases(), inboxConcurrencyCases(), forgetCases(), laneCases(),
	)
}

func concurrentWriters(f store.Features) bool { return f.ConcurrentWriters }
func singleWriter(f store.Features) bool      { return !f.ConcurrentWriters }
func savepoints(f store.Features) bool        { return f.Savepoints }
func conditions(f store.Features) bool        { return f.Conditions }
func noConditions(f store.Features) bool      { return !f.Conditions }
func heldTopics(f store.Features) bool        { return f.HeldTopics }
func noHeldTopics(f store.Features) bool      { return !f.HeldTopics }
func prepared(f store.Features) bool          { return f.Prepared }
