package messages

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
)

// The tags of sources, as errors list them.
const (
	imageSources    = "'base64', 'url', 'file'"
	documentSources = "'base64', 'text', 'content', 'url', 'file'"
)

func (p *parser) image(v jsonwire.Value) content.Part {
	t, more := p.images.New(1), 0
	for name, x := range v.Members() {
		switch name {
		case "type":
		case "source":
			t.Source = p.source(x, imageSources)
		case "cache_control":
			t.Cache = p.cache(x)
		default:
			more++
		}
	}
	if t.Source == nil {
		p.need(v, "source")
	}
	if more > 0 {
		t.Extra = p.extra(v, &imageNames)
	}
	return t
}

func (p *parser) document(v jsonwire.Value) content.Part {
	t, more := &content.Document{}, 0
	var odd jsonwire.Value
	for name, x := range v.Members() {
		switch name {
		case "type":
		case "source":
			t.Source = p.source(x, documentSources)
		case "title":
			t.Title = p.optText(x, name)
			if x.Is("") {
				p.violation(content.CodeRange, name, textNotEmpty)
			}
		case "context":
			t.Context = p.optText(x, name)
		case "citations":
			t.Citations, odd = p.citing(x)
		case "cache_control":
			t.Cache = p.cache(x)
		default:
			more++
		}
	}
	if t.Source == nil {
		p.need(v, "source")
	}
	if more > 0 || odd.Exists() {
		t.Extra = p.extraCiting(v, &documentNames, odd)
	}
	return t
}

func (p *parser) searchResult(v jsonwire.Value) content.Part {
	t, more := &content.SearchResult{}, 0
	var odd jsonwire.Value
	for name, x := range v.Members() {
		switch name {
		case "type":
		case "source":
			t.Source = p.text(x, name)
		case "title":
			t.Title = p.text(x, name)
		case "content":
			if x.Kind() != jsonwire.Array {
				p.violation(content.CodeType, name, textList)
				continue
			}
			t.Parts = p.content(x, name, false)
		case "citations":
			t.Citations, odd = p.citing(x)
		case "cache_control":
			t.Cache = p.cache(x)
		default:
			more++
		}
	}
	if t.Source == "" {
		p.need(v, "source")
	}
	if t.Title == "" {
		p.need(v, "title")
	}
	if len(t.Parts) == 0 {
		p.need(v, "content")
	}
	if more > 0 || odd.Exists() {
		t.Extra = p.extraCiting(v, &searchResultNames, odd)
	}
	return t
}

// citing reads {"enabled": …}. odd is the object if it has members that are
// not known; they go to the Extra of what it stands in.
func (p *parser) citing(v jsonwire.Value) (on bool, odd jsonwire.Value) {
	if !p.object(v, "citations") {
		return false, odd
	}
	p.path.Push("citations")
	for name, x := range v.Members() {
		if name != "enabled" {
			odd = v
			continue
		}
		var ok bool
		if on, ok = x.Bool(); !ok && x.Kind() != jsonwire.Null {
			p.violation(content.CodeType, name, textBoolean)
		}
	}
	if odd.Exists() {
		p.lookAlikes(v, &citationsNames)
	}
	p.path.Pop()
	return on, odd
}

// source reads a source whose tag is one of those that expected lists. It
// returns nil if there is none.
func (p *parser) source(v jsonwire.Value, expected string) content.Source {
	p.path.Push("source")
	defer p.path.Pop()
	kind, ok := p.tag(v)
	if !ok {
		return nil
	}
	image := expected == imageSources
	if known := sourceKind(kind); known == 0 || image && known > 1 {
		p.violation(content.CodeValue, "", quoteTag(kind, expected))
		if known == 0 {
			return nil
		}
	}
	p.path.Push(kind)
	defer p.path.Pop()
	switch kind {
	case "base64":
		return p.base64(v)
	case "url":
		return p.url(v)
	case "file":
		return p.file(v)
	case "text":
		return p.plainText(v)
	}
	return p.partsSource(v)
}

// sourceKind returns 1 for a source of images and documents, 2 for one of
// documents only, and 0 for what is no source.
func sourceKind(kind string) int {
	switch kind {
	case "base64", "url", "file":
		return 1
	case "text", "content":
		return 2
	}
	return 0
}

func (p *parser) base64(v jsonwire.Value) content.Source {
	s, more := p.base64s.New(1), 0
	for name, x := range v.Members() {
		switch name {
		case "type":
		case "media_type":
			s.MediaType = p.text(x, name)
		case "data":
			s.Data = p.text(x, name)
			p.checked(x, s.Data)
		default:
			more++
		}
	}
	if s.MediaType == "" {
		p.need(v, "media_type")
	}
	if s.Data == "" {
		p.need(v, "data")
	}
	if more > 0 {
		s.Extra = p.extra(v, &base64Names)
	}
	return s
}

func (p *parser) url(v jsonwire.Value) content.Source {
	s, more := &content.URL{}, 0
	for name, x := range v.Members() {
		switch name {
		case "type":
		case "url":
			s.URL = p.text(x, name)
		default:
			more++
		}
	}
	if s.URL == "" {
		p.need(v, "url")
	}
	if more > 0 {
		s.Extra = p.extra(v, &urlNames)
	}
	return s
}

func (p *parser) file(v jsonwire.Value) content.Source {
	s, more := &content.File{}, 0
	for name, x := range v.Members() {
		switch name {
		case "type":
		case "file_id":
			s.ID = p.text(x, name)
		default:
			more++
		}
	}
	if s.ID == "" {
		p.need(v, "file_id")
	}
	if more > 0 {
		s.Extra = p.extra(v, &fileNames)
	}
	return s
}

func (p *parser) plainText(v jsonwire.Value) content.Source {
	s, more := &content.PlainText{}, 0
	for name, x := range v.Members() {
		switch name {
		case "type":
		case "media_type":
			// "" stands for text/plain in the field, but not on the wire.
			if s.MediaType = p.text(x, name); x.Is("") {
				p.violation(content.CodeValue, name, "Input should be 'text/plain'")
			}
		case "data":
			s.Text = p.text(x, name)
		default:
			more++
		}
	}
	if s.MediaType == "" {
		p.need(v, "media_type")
	}
	if s.Text == "" {
		p.need(v, "data")
	}
	if more > 0 {
		s.Extra = p.extra(v, &base64Names)
	}
	return s
}

func (p *parser) partsSource(v jsonwire.Value) content.Source {
	s, more := &content.Parts{}, 0
	for name, x := range v.Members() {
		switch name {
		case "type":
		case "content":
			if x.Kind() == jsonwire.Null {
				p.violation(content.CodeType, name, textList)
				continue
			}
			s.Parts = p.content(x, name, true)
		default:
			more++
		}
	}
	if len(s.Parts) == 0 {
		p.need(v, "content")
	}
	if more > 0 {
		s.Extra = p.extra(v, &contentNames)
	}
	return s
}

// cache reads a cache mark, which may be null.
func (p *parser) cache(v jsonwire.Value) *content.Cache {
	const name = "cache_control"
	if !p.object(v, name) {
		return nil
	}
	p.path.Push(name)
	defer p.path.Pop()
	c, more, typed := p.caches.New(p.size), 0, false
	for name, x := range v.Members() {
		switch name {
		case "type":
			if typed = true; !x.Is("ephemeral") {
				p.violation(content.CodeValue, name, "Input should be 'ephemeral'")
			}
		case "ttl":
			c.TTL = p.choice(x, name, "'5m' or '1h'")
		default:
			more++
		}
	}
	if !typed {
		p.violation(content.CodeMissing, "type", textRequired)
	}
	if more > 0 {
		c.Extra = p.extra(v, &cacheNames)
	}
	return c
}
