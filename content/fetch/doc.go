// Package fetch downloads files that requests name by link, from their origin
// and from nowhere else: strangers choose the links, and the machine that
// follows them stands inside somebody's network.
//
// A [Fetcher] is a [content.Resolver]. With the zero [Options]
//
//   - a link begins with https and has no port but 443, no user-info, no
//     characters that parsers read differently, and a host that is neither of
//     special use nor a number in disguise;
//   - a name is converted to ASCII, judged, and looked up as an absolute name;
//   - an address is judged where it is dialled, for every attempt and every
//     redirect: it must be public unicast by the IANA registries and none of the
//     service addresses of clouds; IPv4 addresses are taken out of what hides
//     them;
//   - at most three redirects are followed, each judged like the first, none
//     from https to http;
//   - the request is a GET that says nothing of whom it is for: no cookie, key or
//     Referer, no proxy from the environment, a connection of its own, HTTP/1.1;
//   - the answer must have status 200, no content coding, at most 64 KiB of
//     headers and 32 MiB of body, whole, within 30 seconds in all. Memory follows
//     what has arrived.
//
// What stands behind the end of a body that has a length is not looked at, and
// that a body without length or chunks was cut can only be told over https.
//
// Rules of the network that keep this machine from what it need not reach are
// advised besides, not instead.
//
// # Own files
//
// A host that keeps some files itself, caches them, or fetches in another way
// wraps a Fetcher in a Resolver of its own: see the example. [Off] switches
// fetching off.
//
// # Why the list of addresses is our own
//
// The library code.dny.dev/ssrf would guard a dialer as well, but the tables are
// a few lines, a host's prefixes have to be judged unmapped and behind
// translators, and the module gets no further requirement. A test outside of it
// compares every edge of both tables with that library, which is generated
// from the registries.
package fetch
