// Package brokerkit holds what adapters of brokers would each write again: it is for
// those who write one, here or elsewhere.
//
//   - [Gate] and [Calls] count the calls inside a destination, so that Close can wait
//     for them and end them;
//   - [Ledger] keeps the fates of one call's messages, however many goroutines learn
//     them;
//   - [Adapter] makes errors that begin with the adapter's name, say what failed and
//     end with what to do, and knows those that all adapters have;
//   - [Probe] bounds a probe whose client does not heed its context;
//   - [URLs], [ClientTLS] and [BadCertificate] read addresses and see to TLS.
//
// It promises no compatibility: a version of the root module may change it. An
// adapter of an older version need not build against it, and scripts/compat says, for
// each release, which of the last release's adapters do. Who writes an adapter
// outside of this repository pins the root module's version, or copies what is needed.
package brokerkit
