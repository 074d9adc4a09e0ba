package config

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/carrel-dev/carrel/llm"
	"github.com/carrel-dev/carrel/llm/remote"
	"github.com/carrel-dev/carrel/token"
)

// checkGenerator returns an error if settings of the generator contradict each other.
func (s *Settings) checkGenerator() error {
	url, window, reply := s.value("generate.url"), get[token.Count](s, "generate.window"), s.value("generate.max_tokens")
	switch {
	case url.Value != "" && get[string](s, "generate.model") == "":
		return url.fail(errors.New("wants generate.model, too: the name of a model of this server"))
	case window > 0 && token.Count(get[int](s, reply.Key)) >= window:
		if reply.Origin.Kind == "built-in" {
			reply = s.value("generate.window")
		}
		return reply.fail(fmt.Errorf("the tokens of a reply, generate.max_tokens (%v), must be below generate.window (%d)", s.value("generate.max_tokens"), window))
	}
	return nil
}

// generator returns the generator with its limits. It returns nil if no generator is set, if
// connections are forbidden, or if the ceiling is 0. In the last case it logs a message.
func (s *Settings) generator(log *slog.Logger) (llm.Generator, error) {
	url, ceiling := s.value("generate.url"), get[token.Count](s, "generate.ceiling")
	switch {
	case url.Value == "" || s.Offline():
		return nil, nil
	case ceiling == 0:
		if log != nil {
			log.Info("the model of generate.url is not asked, since generate.ceiling is 0")
		}
		return nil, nil
	}
	key, err := s.key("generate")
	if err != nil {
		return nil, err
	}
	g, err := s.writer(key)
	if err != nil {
		return nil, url.fail(err)
	}
	counter := token.ForModel(get[string](s, "generate.model"))
	return llm.Limited(g, &llm.Limits{
		Tokens: int64(ceiling), Calls: get[int](s, "generate.calls"), Reply: get[int](s, "generate.max_tokens"),
		Count: func(text string) int { return int(counter.Count(text)) },
	}), nil
}

// Generator returns the generator with its limits. If the settings permit none, it fails with an
// [*Error] with the setting. It fails with an [*Error] or a [*FileError] if the URL or the key file
// cannot be used.
func (s *Settings) Generator() (llm.Generator, error) {
	g, err := s.generator(nil)
	switch {
	case g != nil || err != nil:
		return g, err
	case s.Offline():
		return nil, &Error{"offline", errors.New("is on, so no model can be asked: turn it off")}
	case get[string](s, "generate.url") == "":
		return nil, &Error{"generate.url", errors.New("is not set, so there is no model to ask: set the URL of a server")}
	}
	return nil, &Error{"generate.ceiling", errors.New("is 0, so no model can be asked: set how many tokens a run may spend")}
}

// writer returns the driver of the generator.
func (s *Settings) writer(key llm.Secret) (llm.Generator, error) {
	url, model := get[string](s, "generate.url"), get[string](s, "generate.model")
	o := remote.GeneratorOptions{
		Options: remote.Options{
			Key: key, Timeout: time.Duration(get[Duration](s, "generate.timeout")), Retries: get[int](s, "generate.retries"),
		},
		Window: int(get[token.Count](s, "generate.window")), MaxTokens: get[int](s, "generate.max_tokens"),
	}
	if o.Retries == 0 {
		o.Retries = remote.NoRetries // 0 would mean the default
	}
	if get[string](s, "generate.api") == apiAnthropic {
		return remote.NewAnthropic(url, model, &o)
	}
	return remote.NewOpenAI(url, model, &o)
}
