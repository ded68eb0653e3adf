//go:build !linux

package proxy

import (
	"context"
	"errors"
)

func onNode(context.Context, []string) (string, error) {
	return "", errors.New("nodes run Linux")
}
