"""Which files are taken for secrets, by name and by content."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft.files.secret_detection import is_secret_content, is_secret_name, mask

SECRET_NAMES = """
.env .ENV .env.local .env.production .Env.example .env~ .env.bak .env-prod .envrc config/.env prod.env PROD.ENV
app/staging.env .env.swp .envs/.production/postgres .environment id_rsa id_dsa id_ecdsa id_ed25519 ID_RSA id_rsa.old
id_rsa_work id_ed25519_sk id_rsa.txt keys/id_ecdsa-2024 deploy_rsa github_ed25519 ssh_host_rsa_key server.pem SERVER.PEM
server.key server.key.bak tls/private.pem~ a.p12 a.pfx a.p8 a.jks a.keystore a.kdbx a.ppk a.keytab .netrc _netrc .npmrc
.pypirc .pgpass .htpasswd .git-credentials .dockercfg .aws/credentials .aws/config home/.ssh/config .ssh/known_hosts
.gnupg/pubring.kbx .azure/x.json .kube/config .KUBE/Config .docker/config.json .config/gcloud/x.db .config/gh/hosts.yml
credentials credentials.json credentials.yaml credentials.toml Credentials.INI aws-credentials.json app_secrets.yaml
secrets.yaml secrets.json secrets.toml secret.yml .secrets.yaml client_secret_123.json service-account.json
service-account-prod.json serviceAccountKey.json terraform.tfstate terraform.tfstate.backup prod.tfvars prod.tfvars.json
secring.asc my-private.asc .bash_history kubeconfig .vault-token wp-config.php passwords.csv vpn.ovpn a.pem.
.env::$DATA server.ｐem .ｅnv x:.env credentials.json.bak .server.pem.swp .#prod.env #prod.env#
.cargo/credentials.toml .m2/settings.xml
.secrets .credentials .token .dev.vars .dev.vars.production .codex/auth.json .local/share/opencode/auth.json
.composer/auth.json token.json token access_token.json github-token .github_token accessTokens.json tokens.json
token.txt rclone.conf .rclone.conf wallet.dat my.wallet .claude/.credentials.json .claude.json .gemini/oauth_creds.json
.qwen/oauth_creds.json .gemini/google_accounts.json .config/github-copilot/hosts.json .continue/config.json
.config/rclone/x .databricks.cfg .netlify/config.json .age/keys.txt azureauth.json
.openai/x .databrickscfg .snowsql/config .kaggle/kaggle.json kaggle.json .cache/huggingface/token
.passwd-s3fs .sentryclirc .flaskenv .gnupg/private-keys-v1.d/a .git-crypt/keys/default x/private-keys-v1.d/a.key
login.keyring .local/share/keyrings/login.keyring key4.db logins.json cookies.sqlite .mozilla/firefox/a .bitcoin/a
.ethereum/keystore/a UTC--2024-01-01T00-00-00.000Z--ab wg0.conf home.nmconnection wpa_supplicant.conf ipsec.secrets
prod.secrets aws.credentials api_key.json api-key.txt passwords.txt rootkey.csv accessKeys.csv gcp-key.json
my-firebase-adminsdk-x1.json key.properties keystore.properties filezilla.xml sftp-config.json .vscode/sftp.json
.dbt/profiles.yml .gradle/gradle.properties .zhistory fish_history msal_token_cache.json .vault_pass.txt.bak
.restic-password backup.psafe3 export.1pux bitwarden_export_2024.json github-recovery-codes.txt .token.swp
secret.txt secrets.txt Secret.TXT password.txt passwords2.txt passwords-2024.txt my_passwords.txt passwd.txt creds.txt
credential.txt credentials.txt credentials.txt.bak private_key.txt private-keys.txt privatekey.txt secret_key.txt
api_key.txt api_keys.txt apiKeys.txt access-token.txt access_tokens.txt api_token.txt tokens.txt ssh_key.txt
seed-phrase.txt recovery_phrase.txt recovery_key.txt backup-codes.txt secrets.text passwords.md Passwords.markdown
my-passwords.md passwords.org
"""

DOCUMENT_NAMES = """
secretary-notes.md environment.md monkey.md keynote.md credentials-policy.md secret.md secrets.md credentials.md
api-keys.md private-key.md secret-santa.md secret-santa.txt the-secret-garden.md password-policy.md password-policy.txt
password.md reset-password.txt forgot_password.txt the-secret.txt secretary.txt tokenizer.md tokenizer.txt my.txt
top-secret.txt secret-recipe.txt api.txt keys.txt key-phrases.txt public-key.txt secret.html passwords.html
the-secret-garden.txt secret-santa.yaml id_card.md id_rsa.pub id_ed25519.pub identity.md idea.md
keys.md key.md hotkey.json turkey.txt donkey.yaml pem.md penv.md env.md env/readme.md environments/prod.md .gitignore
.editorconfig README.md notes/plan.md .environment-notes.md public.asc release.asc config.json docker/config.json
aws/notes.md ssh.md .docker/Dockerfile gcloud/readme.md credentialing.json secretariat.json compass.json passwordless.md
history.md bash_history.md service-level.json key-results.yaml package.json settings.xml persa.txt id_rsacard.md
tfstate.md kubernetes.yaml .config/readme.md event.json 日記.md été.md chapter-1.md token-economy.md vault.md oven.md
token-economics.md tokens.md token.md tokenizer.json design-tokens.json theme.tokens.json special_tokens_map.json
added_tokens.json tokens.csv token-economics.csv locales/en/auth.json src/i18n/auth.json authors.json author.json
auth.md wallet.md wallets.json rclone.md wgs84.conf wg.conf-notes.md cookies.txt cookies.md shadow.md shadows.json
keyboard.json keywords.csv monkeys.yaml secretary.json login.md logins.md profiles.yml gradle.properties nuget.config
sftp.md history.json kaggle.md claude.md CLAUDE.md AGENTS.md gemini.md .cursorrules .claude/settings.json
.continue/readme.md .vscode/settings.json firebase.json passwords-and-people.txt the-token.txt recovery.md
"""
SECRETS = [
    *SECRET_NAMES.split(), ".e\u200bnv", "id_rsa ", "Default/Login Data",
    "secret (1).txt", "My passwords.txt", "api key.txt", "seed phrase.txt",
]  # fmt: skip
DOCUMENTS = DOCUMENT_NAMES.split()


def test_the_tables_are_long_enough_to_mean_something() -> None:
    assert len(SECRETS) >= 60
    assert len(DOCUMENTS) >= 60


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_is_known_by_its_name(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_is_not_taken_for_a_secret(name: str) -> None:
    assert not is_secret_name(name)


@pytest.mark.covers("RD-files-secrets")
@given(st.sampled_from(SECRETS), st.lists(st.sampled_from(["a", "Docs", "x.y"])))
def test_neither_folders_above_nor_letter_case_hide_a_secret(name: str, above: list[str]) -> None:
    for spelling in (name, name.upper(), name.title()):
        assert is_secret_name("/".join([*above, spelling]))


@pytest.mark.parametrize(
    "head",
    [
        b"-----BEGIN PRIVATE KEY-----\nMIIE",
        b"-----BEGIN RSA PRIVATE KEY-----\n",
        b"\xef\xbb\xbf \r\n-----BEGIN OPENSSH PRIVATE KEY-----\n",
        b"-----BEGIN ENCRYPTED PRIVATE KEY-----",
        b"-----BEGIN PGP PRIVATE KEY BLOCK-----\n",
        b"-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----\n-----BEGIN EC PRIVATE KEY-----\n",
        b"Bag Attributes\n  localKeyID\n-----BEGIN PRIVATE KEY-----\n",
        b"PuTTY-User-Key-File-2: ssh-rsa\n",
        b"AGE-SECRET-KEY-1QQQQ",
        b"# created: 2024-01-01\n# public key: age1xyz\nAGE-SECRET-KEY-1QQQQ",
        b"---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----",
        b'{"type": "service_account", "private_key": "-----BEGIN PRIVATE KEY-----\\nMII"}',
        b"# Netscape HTTP Cookie File\n.example.org\tTRUE\t/\tTRUE\t0\tsid\tabc\n",
    ],
)
def test_a_private_key_is_known_by_its_beginning(head: bytes) -> None:
    assert is_secret_content(head)


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"# Keys\n\nA key begins with\n\n    -----BEGIN PRIVATE KEY-----\n",
        b"# Keys\n\n-----BEGIN PRIVATE KEY----- is followed by\n" + b"QUJD" * 16 + b"\n",
        b"# Keys\n\nThe line -----BEGIN PRIVATE KEY-----\n" + b"QUJD" * 16 + b"\n",
        b"# Keys\n\n-----BEGIN PUBLIC KEY-----\n" + b"QUJD" * 16 + b"\n",
        b"-----BEGIN CERTIFICATE-----\nMII",
        b"-----BEGIN PGP PUBLIC KEY BLOCK-----\n",
        b"ssh-rsa AAAA person@host",
        b'{"note": "-----BEGIN PRIVATE KEY-----"}',
        b"-----BEGIN ",
        b"# only\n# comments",
    ],
)
def test_writing_about_keys_is_no_key(head: bytes) -> None:
    assert not is_secret_content(head)


@given(st.binary(max_size=200), st.text(max_size=40))
def test_any_content_and_any_name_can_be_judged(head: bytes, name: str) -> None:
    assert is_secret_content(head) in {True, False}
    assert is_secret_name(name) in {True, False}


def test_the_mask_names_the_file_and_says_that_its_content_is_withheld() -> None:
    assert "prod.env" in mask("prod.env")
    assert "withheld" in mask("prod.env")


def test_a_key_is_known_below_any_line() -> None:
    for start in (b"", b"    ", b"> ", b"\t"):
        key = b"".join(start + line + b"\n" for line in (b"-----BEGIN RSA PRIVATE KEY-----", b"QUJD" * 16))
        assert is_secret_content(b"my note\r\n" * 10_000 + key)
        assert is_secret_content(b"-----BEGIN PRIVATE KEY\n" * 10_000 + key)
    for key in (b"AGE-SECRET-KEY-1QQQQQQQQ", b"PuTTY-User-Key-File-3: ssh-ed25519"):
        assert is_secret_content(b"my note\n\n" + key)
        assert not is_secret_content(b"Files that begin with " + key + b" are keys.\n")
