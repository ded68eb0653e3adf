package fakecontroller_test

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/csisim/csisim/fakecontroller"
	"github.com/csisim/csisim/internal/input/strict"
)

func TestEverySidecarHasItsFlagsUnderItsName(t *testing.T) {
	var keys []string
	for _, field := range strict.Fields(reflect.TypeFor[fakecontroller.Sidecars]()) {
		keys = append(keys, field.Name)
	}
	assert.Equal(t, fakecontroller.Names(), keys)
}
