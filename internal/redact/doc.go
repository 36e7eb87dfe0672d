// Package redact takes out of messages what nobody may see: the values of headers by their names, and parts of JSON payloads
// by their paths. What it puts in their place is Mark.
//
// A path is one of a small part of RFC 9535, JSONPath:
//
//	$.card.number      a member of a member of the root
//	$['card-number']   a member whose name is no plain word; "" will do too
//	$.items[0].iban    the first element of an array
//	$.*  $[*]          all members, or all elements
//	$..password        all members of that name, however deep
//	$                  all of the payload
//
// Names match whatever their case, which RFC 9535 says otherwise: too much is hidden rather than too little. There are no
// slices, filters, functions, lists of names, and indexes from the end. JSON within a text is a text.
//
// It decides purely, and the memory that it takes is a multiple of the payload's size.
package redact
