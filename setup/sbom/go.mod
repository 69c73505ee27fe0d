module windtunnel/sbom

go 1.26

require github.com/CycloneDX/cyclonedx-go v0.12.0
