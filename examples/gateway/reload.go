package main

import (
	"context"
	"log/slog"
	"os"
)

// reloads reads the file of -config again for each signal, until ctx ends.
func (c *config) reloads(ctx context.Context, hangup <-chan os.Signal, logger *slog.Logger) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangup:
			c.reload(logger)
		}
	}
}

// reload reads the file of -config again. Requests that have begun keep the upstreams
// with which they began. If the file is invalid, nothing changes. Flags, and keys in the
// environment of the process, keep their values.
func (c *config) reload(logger *slog.Logger) {
	if c.file == "" {
		logger.Info("SIGHUP: there is nothing to reload, because the gateway was started without -config")
		return
	}
	r, err := readRouting(c.file)
	if err != nil {
		logger.Error("SIGHUP: the configuration was not changed, because the file is invalid", "error", inFile(c.file, err))
		return
	}
	up, monitors, err := r.upstream()
	if err != nil {
		logger.Error("SIGHUP: the configuration was not changed, because the file is invalid", "error", inFile(c.file, err))
		return
	}
	c.install(up, monitors)
	logger.Info("SIGHUP: the configuration was reloaded", "file", c.file)
	r.log(logger)
}
