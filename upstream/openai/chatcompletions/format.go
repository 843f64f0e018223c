package chatcompletions

import "github.com/polywire/polywire/content"

// Format is the name of this wire format, as it appears in signatures.
const Format content.Format = "openai-chat"
