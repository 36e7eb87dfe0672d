// Package mutants is the bug bank: mistakes that outboxes are known to make, each
// a small patch, with the instrument that must find it. A patch is applied to a
// copy at build time (go build -overlay); no file of the tree is changed.
//
// If no instrument finds a mutant, the instruments are blind there. The command is
// proof/cmd/postbag-mutants, or make mutants. The results are in docs/reliability.md.
package mutants
