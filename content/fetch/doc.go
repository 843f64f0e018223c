// Package fetch downloads files that requests refer to by link, safely: clients choose
// the links, and the host that follows them is usually inside a private network.
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
// Use network policy as well, so that the host can reach only what it needs.
//
// # Other sources of files
//
// A host that stores some files itself, caches them or downloads them in another way
// wraps a Fetcher in its own Resolver: see the example. [Off] disables fetching.
//
// # Address tables
//
// The tables of addresses are part of this package so that the module needs no further
// dependency, and because prefixes of the host must also apply to embedded IPv4
// addresses. A test compares them with the library code.dny.dev/ssrf, which is
// generated from the registries.
package fetch
