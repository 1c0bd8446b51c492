class SvcSandbox < Formula
  desc "Faithful offline sandbox of the relying-party API"
  homepage "{{repository}}"
  version "{{version}}"
  license "MIT"

  on_macos do
    on_arm do
      url "{{repository}}/releases/download/v{{version}}/svc-sandbox-darwin-arm64.tar.gz"
      sha256 "{{sha256 darwin-arm64}}"
    end
    on_intel do
      url "{{repository}}/releases/download/v{{version}}/svc-sandbox-darwin-x64.tar.gz"
      sha256 "{{sha256 darwin-x64}}"
    end
  end
  on_linux do
    on_arm do
      url "{{repository}}/releases/download/v{{version}}/svc-sandbox-linux-arm64.tar.gz"
      sha256 "{{sha256 linux-arm64}}"
    end
    on_intel do
      url "{{repository}}/releases/download/v{{version}}/svc-sandbox-linux-x64.tar.gz"
      sha256 "{{sha256 linux-x64}}"
    end
  end

  def install
    bin.install "svc-sandbox"
    generate_completions_from_executable(bin/"svc-sandbox", "completion", shells: [:bash, :zsh, :fish])
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/svc-sandbox --version")
  end
end
