//go:build !linux

package proxy

import (
	"context"
	"errors"
	"io"
)

func onNode(context.Context, []string, io.Writer) error {
	return errors.New("nodes run Linux")
}
