// Package sourcekit holds what every source would otherwise write again. Use it if you
// write one.
//
//   - [Tracker] turns acks in any sequence into one position per partition, and knows
//     which assignment a receipt is of;
//   - [AtWork] knows which messages are at work, where each is acked by itself;
//   - [Filler] keeps a batch within its limits;
//   - [Life] lets in one Fetch at a time, and ends with Close;
//   - [Error] has its class;
//   - [IDs] choose the id by which a message is marked, [Keys] the key by which it is
//     ordered.
//
// It promises no compatibility: any version of the root module may change it. If you write
// a source outside of this repository, pin the root module's version, or copy what you
// need.
package sourcekit
