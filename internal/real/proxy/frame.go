package proxy

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// frame is one of HTTP/2 as it came, and in payload what it carries. A block of headers is one frame with all that continue it.
type frame struct {
	kind    http2.FrameType
	flags   http2.Flags
	stream  uint32
	raw     []byte
	payload []byte
}

// frameHeader is the length of what comes before a payload.
const frameHeader = 9

// readFrame reads the next one.
func readFrame(in io.Reader) (f frame, err error) {
	f.raw = make([]byte, frameHeader, 512)
	if _, err = io.ReadFull(in, f.raw); err != nil {
		return f, err
	}
	length := int(f.raw[0])<<16 | int(f.raw[1])<<8 | int(f.raw[2])
	f.kind, f.flags, f.stream = http2.FrameType(f.raw[3]), http2.Flags(f.raw[4]), binary.BigEndian.Uint32(f.raw[5:])&(1<<31-1)
	f.raw = slices.Grow(f.raw, length)[:frameHeader+length]
	if _, err = io.ReadFull(in, f.raw[frameHeader:]); err != nil {
		return f, err
	}
	if f.payload, err = f.unpadded(); err != nil || f.kind != http2.FrameHeaders {
		return f, err
	}
	for ended := f.flags.Has(http2.FlagHeadersEndHeaders); !ended; {
		more, err := readFrame(in)
		if err != nil {
			return f, err
		}
		if more.kind != http2.FrameContinuation {
			return f, fmt.Errorf("a block of headers is followed by a frame %s", more.kind)
		}
		f.raw, f.payload = append(f.raw, more.raw...), append(slices.Clone(f.payload), more.payload...)
		ended = more.flags.Has(http2.FlagContinuationEndHeaders)
	}
	return f, nil
}

// unpadded is the payload without padding and priority. RFC 9113, 6.1 and 6.2
func (f frame) unpadded() ([]byte, error) {
	payload := f.raw[frameHeader:]
	if f.kind != http2.FrameHeaders && f.kind != http2.FrameData {
		return payload, nil
	}
	padding := 0
	if f.flags.Has(http2.FlagDataPadded) && len(payload) > 0 {
		padding, payload = int(payload[0]), payload[1:]
	}
	if f.kind == http2.FrameHeaders && f.flags.Has(http2.FlagHeadersPriority) {
		payload = payload[min(5, len(payload)):]
	}
	if padding > len(payload) {
		return nil, fmt.Errorf("a frame %s has more padding than content", f.kind)
	}
	return payload[:len(payload)-padding], nil
}

// endsStream reports whether its sender sends nothing more on its stream.
func (f frame) endsStream() bool {
	return (f.kind == http2.FrameHeaders || f.kind == http2.FrameData) && f.flags.Has(http2.FlagDataEndStream)
}

// withoutTable are the settings of a caller, and that the driver must not abbreviate headers by a table: some of its answers do not
// reach the caller, who would miss their entries. RFC 7541, 4.2
func (f frame) withoutTable() []byte {
	raw := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint16(slices.Clone(f.raw), uint16(http2.SettingHeaderTableSize)), 0)
	length := len(raw) - frameHeader
	raw[0], raw[1], raw[2] = byte(length>>16), byte(length>>8), byte(length)
	return raw
}

// messagePrefix is the length of what gRPC puts before a message: whether it is compressed, and its length.
const messagePrefix = 5

// decode reads the message of a stream into m.
func decode(content []byte, m proto.Message) error {
	return decodeAs(proto.UnmarshalOptions{}, content, m)
}

func decodeAs(as proto.UnmarshalOptions, content []byte, m proto.Message) error {
	if len(content) < messagePrefix || content[0] != 0 || int(binary.BigEndian.Uint32(content[1:])) != len(content)-messagePrefix {
		return status.Error(codes.Internal, "the proxy cannot read a message that is compressed or cut off")
	}
	return as.Unmarshal(content[messagePrefix:], m)
}

// headers are those of gRPC that a relay looks at.
type headers struct{ path, timeout, status, message string }

// fieldsOf reads a block of headers. Each has to be read, as the next may refer to it.
func fieldsOf(d *hpack.Decoder, f frame) (h headers, err error) {
	all, err := d.DecodeFull(f.payload)
	for _, field := range all {
		switch field.Name {
		case ":path":
			h.path = field.Value
		case "grpc-timeout":
			h.timeout = field.Value
		case "grpc-status":
			h.status = field.Value
		case "grpc-message":
			h.message = field.Value
		}
	}
	return h, err
}

// outcome is the status in the trailers of an answer; nil for OK.
func (h headers) outcome() error {
	code, err := strconv.ParseUint(h.status, 10, 32)
	if err != nil {
		return status.Error(codes.Unknown, "the answer has no grpc-status")
	}
	message, err := url.PathUnescape(h.message)
	if err != nil {
		message = h.message
	}
	return status.Error(codes.Code(code), message)
}

// reset is the status that a caller has whose stream the driver resets, as gRPC words it.
func reset(code http2.ErrCode) error {
	as := codes.Internal
	switch code {
	case http2.ErrCodeCancel:
		as = codes.Canceled
	case http2.ErrCodeRefusedStream:
		as = codes.Unavailable
	}
	return status.Errorf(as, "stream terminated by RST_STREAM with error code: %s", code)
}

// answerFrames are the frames of an answer as a driver would send them.
func answerFrames(stream uint32, answer proto.Message, failure error) (all [][]byte, err error) {
	head, status := []string{":status", "200", "content-type", "application/grpc"}, status.Convert(failure)
	trailers := []string{"grpc-status", strconv.Itoa(int(status.Code()))}
	if status.Message() != "" {
		trailers = append(trailers, "grpc-message", escaped(status.Message()))
	}
	if len(status.Proto().GetDetails()) > 0 {
		details, err := proto.Marshal(status.Proto())
		if err != nil {
			return nil, err
		}
		trailers = append(trailers, "grpc-status-details-bin", base64.RawStdEncoding.EncodeToString(details))
	}
	write := func(what func(*http2.Framer) error) {
		var out bytes.Buffer
		err = errors.Join(err, what(http2.NewFramer(&out, nil)))
		all = append(all, out.Bytes())
	}
	if failure != nil {
		write(func(to *http2.Framer) error { return to.WriteHeaders(block(stream, append(head, trailers...), true)) })
		return all, err
	}
	content, err := proto.MarshalOptions{}.MarshalAppend(make([]byte, messagePrefix), answer)
	if err != nil {
		return nil, err
	}
	binary.BigEndian.PutUint32(content[1:], uint32(len(content)-messagePrefix))
	write(func(to *http2.Framer) error { return to.WriteHeaders(block(stream, head, false)) })
	for part := range slices.Chunk(content, smallestFrame) {
		write(func(to *http2.Framer) error { return to.WriteData(stream, false, part) })
	}
	write(func(to *http2.Framer) error { return to.WriteHeaders(block(stream, trailers, true)) })
	return all, err
}

func block(stream uint32, fields []string, last bool) http2.HeadersFrameParam {
	return http2.HeadersFrameParam{StreamID: stream, BlockFragment: literal(fields), EndStream: last, EndHeaders: true}
}

// dataIn is how much of the credit of a stream a frame takes.
func dataIn(raw []byte) int {
	if http2.FrameType(raw[3]) != http2.FrameData {
		return 0
	}
	return len(raw) - frameHeader
}

// window is how much of a stream a sender of settings takes at first: what it was, unless they say.
func (f frame) window(was int) int {
	found := was
	for setting := range slices.Chunk(f.payload, 6) {
		if len(setting) == 6 && http2.SettingID(binary.BigEndian.Uint16(setting)) == http2.SettingInitialWindowSize {
			found = int(binary.BigEndian.Uint32(setting[2:]))
		}
	}
	return found
}

// smallestFrame is the largest payload that everybody takes. RFC 9113, 4.2
const smallestFrame = 1 << 14

// literal are headers that leave the table of their reader as it is: another writes to it.
func literal(fields []string) []byte {
	var block strings.Builder
	encoder := hpack.NewEncoder(&block)
	for i := 0; i < len(fields); i += 2 {
		_ = encoder.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1], Sensitive: true}) // a Builder takes all
	}
	return []byte(block.String())
}

// escaped is a text as gRPC has it in headers.
func escaped(text string) string {
	var out strings.Builder
	for i := range len(text) {
		if b := text[i]; b < ' ' || b > '~' || b == '%' {
			fmt.Fprintf(&out, "%%%02X", b)
		} else {
			out.WriteByte(b)
		}
	}
	return out.String()
}
