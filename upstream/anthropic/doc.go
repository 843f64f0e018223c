// Package anthropic implements [upstream.Upstream] for servers with the Messages
// API: the vendor's own, and other servers with a compatible API.
//
//	up, err := anthropic.New(&anthropic.Options{Key: os.Getenv("ANTHROPIC_API_KEY")})
//	http.Handle("/", messages.NewHandler(up, nil))
//
// A request that arrived in this format is sent byte for byte, except for the
// model's name, with the client's version and betas. If the host has chosen another model, which
// does not accept what the model that the client named accepts, the request is encoded for it, and
// losses are reported. Responses are forwarded byte for byte. A request of another format is converted to Messages, and losses are
// reported before anything is sent: see [upstream.Writer.Loss].
//
// # Clouds
//
// [Options.Platform] selects a cloud service whose requests differ: [PlatformVertex] for Google
// Cloud, [PlatformBedrock] for Amazon Bedrock and [PlatformFoundry] for Microsoft Foundry. A
// service with the paths of the vendor's API needs only its BaseURL. For Bedrock use package
// upstream/bedrock, a module of its own: it returns a Client of this package that also signs
// requests and reads the cloud's streams and errors.
//
// A document of this format keeps its bytes, except for the members that the platform has
// elsewhere: the model, the version, and the betas. Betas that the platform is not known to
// accept are not sent: see AllowBeta. If the request uses a member or a built-in tool that the
// platform does not have, it is encoded again without that, and losses are reported. Vertex and
// Bedrock accept neither links nor ids of files: links are loaded and sent as base64, and ids
// that the handler's Resolver does not have are refused.
//
// The models of platforms have other names, such as claude-sonnet-4-5@20250929: see MapModel.
// On Vertex and Bedrock, where the model is in the path, responses have the model of the
// request.
//
// # Requests
//
// The last user message must reach the model. If all of it is specific to another
// vendor, or it has no parts, the losses are reported and the request fails with a
// [content.Violation] that names the part or the turn. If it contains only white
// space, which Messages refuses, a sentence is sent instead and reported as a loss.
package anthropic
