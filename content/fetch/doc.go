// Package fetch downloads files that requests refer to by link. It restricts the links
// and the addresses to which it connects, because clients choose the links and the
// server that follows them is usually inside a private network.
//
// A [Fetcher] is a [content.Resolver]. With the zero [Options] it applies these rules:
//
//   - A link must begin with https://. It must not contain a user name or password, a
//     port other than 443, or characters that URL parsers treat differently. Its host
//     must not be a special-use name or an address in an unusual notation.
//   - A host name is converted to ASCII, checked, and looked up as an absolute name.
//   - Each address is checked when it is dialed, for every attempt and every redirect.
//     It must be a public unicast address by the IANA registries and not a service
//     address of a cloud. IPv4 addresses embedded in IPv6 addresses are checked.
//   - At most three redirects are followed. The rules for links apply to each, and a
//     redirect from https to http is refused.
//   - The request is a GET over HTTP/1.1 on a new connection, without cookies, keys,
//     Referer or proxy.
//   - The response must have status 200, no Content-Encoding, at most 64 KiB of headers
//     and at most 32 MiB of body. It must be complete within 30 seconds. Memory is
//     allocated as data arrives.
//
// Bytes after the end of a body with a Content-Length are ignored. A truncated body that
// has neither a Content-Length nor chunked encoding is detected over https only.
//
// Restrict the network of the server as well, so that it can reach only the addresses
// that it needs.
//
// # Other sources of files
//
// To serve some files from a store, to cache them or to download them in another way,
// wrap a Fetcher in a Resolver: see the example. [Off] disables fetching.
//
// # Address tables
//
// The tables of addresses that are not public are part of this package. A test compares
// them with the library code.dny.dev/ssrf, which is generated from the registries.
package fetch
