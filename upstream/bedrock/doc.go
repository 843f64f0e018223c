// Package bedrock sends requests to Claude on Amazon Bedrock, and serves clients of
// Bedrock. It is a module of its own, because it requires packages of the cloud's SDK:
// those for signatures and for the framing of streams.
//
//	cfg, err := config.LoadDefaultConfig(ctx) // of github.com/aws/aws-sdk-go-v2/config
//	up, err := bedrock.New(&bedrock.Options{Region: cfg.Region, Credentials: cfg.Credentials})
//	http.Handle("/", messages.NewHandler(up, nil))
//
// [New] returns an [anthropic.Client] for [anthropic.PlatformBedrock], which uses the
// operations InvokeModel and InvokeModelWithResponseStream. Models are named as the cloud
// names them: by the id of a model (anthropic.claude-sonnet-4-5-20250929-v1:0), the id of an
// inference profile (eu.anthropic.claude-sonnet-4-5-20250929-v1:0), or an ARN. MapModel maps
// other names.
//
// [Handler] serves clients that are configured for Bedrock, such as the vendor's SDKs and
// agents, with a Messages handler over any Upstream:
//
//	http.Handle("/model/", bedrock.Handler(messages.NewHandler(up, nil)))
//
// # Errors
//
// An error of the service has the Code of its exception, and its name as the error code in
// the Details: a ThrottlingException is a CodeRateLimit, a ValidationException a
// CodeInvalid. An exception about credentials or permissions has KeyRefused. Exceptions
// within a stream are errors of the stream. A stream that is cut, within a frame or between
// two frames, or whose checksums are wrong, is an error with CodeBadGateway.
package bedrock
