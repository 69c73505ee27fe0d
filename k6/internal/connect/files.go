// SPDX-License-Identifier: AGPL-3.0-only

package connect

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"strings"

	"windtunnel/k6/internal/environment"
	"windtunnel/k6/internal/exit"
	"windtunnel/k6/internal/root"
)

// keys are the contents of the files in an environment's tls.
type keys struct{ ca, cert, key []byte }

// Check says what is wrong with the files of tls, nil if they are right.
func Check(t *environment.TLS, folder string) error {
	if t == nil {
		return nil
	}
	_, err := read(t, folder)
	return err
}

func read(t *environment.TLS, folder string) (k keys, err error) {
	for _, file := range []struct {
		field, path string
		into        *[]byte
	}{{"ca", t.CA, &k.ca}, {"client_cert", t.ClientCert, &k.cert}, {"client_key", t.ClientKey, &k.key}} {
		if file.path == "" {
			continue
		}
		if *file.into, err = os.ReadFile(root.Absolute(file.path, folder)); err != nil {
			return k, fmt.Errorf("tls.%s: %s: %w; relative paths start in the environment file's folder", file.field, file.path, exit.Reason(err))
		}
	}
	if t.CA != "" && !x509.NewCertPool().AppendCertsFromPEM(k.ca) {
		return k, fmt.Errorf("tls.ca: %s holds no certificate in PEM", t.CA)
	}
	if t.ClientCert == "" {
		return k, nil
	}
	if isEncrypted(k.key) {
		return k, fmt.Errorf("tls.client_key: %s is encrypted; give a key without a password, such as by openssl pkey -in FILE -out PLAIN", t.ClientKey)
	}
	if _, err := tls.X509KeyPair(k.cert, k.key); err != nil {
		return k, fmt.Errorf("tls.client_cert and tls.client_key: %s", strings.TrimPrefix(err.Error(), "tls: "))
	}
	return k, nil
}

func isEncrypted(key []byte) bool {
	block, _ := pem.Decode(key)
	return block != nil && (block.Type == "ENCRYPTED PRIVATE KEY" || strings.Contains(block.Headers["Proc-Type"], "ENCRYPTED"))
}
