// Package brokerkit holds what every adapter of a broker would otherwise write again. Use
// it if you write one.
//
//   - [CallGuard] and [Calls] count the calls inside a destination, so that Close can wait
//     for them and end them;
//   - [Ledger] keeps the fates of one call's messages, however many goroutines learn
//     them;
//   - [Adapter] makes errors that begin with the adapter's name, say what failed and
//     end with what to do, and knows those that all adapters have;
//   - [Probe] bounds a probe whose client does not heed its context;
//   - [URLs], [ClientTLS] and [BadCertificate] read addresses and see to TLS.
//
// It promises no compatibility: any version of the root module may change it. An adapter
// of an older version may not build with it. For each release scripts/compat says which
// of the last release's adapters do. If you write an adapter outside of this repository,
// pin the root module's version, or copy what you need.
package brokerkit
