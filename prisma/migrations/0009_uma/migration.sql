-- AlterTable
ALTER TABLE "approval" ADD COLUMN     "receiver_user_info" JSONB;

-- CreateTable
CREATE TABLE "uma_key" (
    "id" UUID NOT NULL,
    "world_id" UUID NOT NULL,
    "signing_public_key" TEXT NOT NULL,
    "encryption_public_key" TEXT NOT NULL,
    "signing_private_key" TEXT NOT NULL,
    "encryption_private_key" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "uma_key_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "uma_nonce" (
    "domain" TEXT NOT NULL,
    "nonce" TEXT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "uma_nonce_pkey" PRIMARY KEY ("domain","nonce")
);

-- CreateTable
CREATE TABLE "pay_request" (
    "id" UUID NOT NULL,
    "world_id" UUID NOT NULL,
    "counterparty_domain" TEXT NOT NULL,
    "major_version" INTEGER NOT NULL,
    "multiplier" TEXT NOT NULL,
    "payer_data" JSONB,
    "callback_url" TEXT,
    "travel_rule" BOOLEAN NOT NULL,
    "asked_at" TIMESTAMPTZ(3),
    "invoice" TEXT,
    "millisatoshis" BIGINT,
    "settlement_url" TEXT,
    "settle_by" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "version" INTEGER NOT NULL,

    CONSTRAINT "pay_request_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "uma_key_world_id_key" ON "uma_key"("world_id");

-- CreateIndex
CREATE INDEX "uma_nonce_expires_at_idx" ON "uma_nonce"("expires_at");

-- A domain is one world's. Of several that have the same, all but the oldest get one of their own.
UPDATE "world" w SET "uma_domain" = left(w."id"::text, 8) || '.' || w."uma_domain"
WHERE EXISTS (SELECT FROM "world" o WHERE o."uma_domain" = w."uma_domain" AND o."id" < w."id");

-- CreateIndex
CREATE UNIQUE INDEX "world_uma_domain_key" ON "world"("uma_domain");

-- CreateIndex
CREATE INDEX "invitation_inviter_customer_id_idx" ON "invitation"("inviter_customer_id");

-- CreateIndex
CREATE INDEX "kyc_link_customer_id_idx" ON "kyc_link"("customer_id");

-- CreateIndex
CREATE INDEX "world_proxy_uma_subdomain_idx" ON "world"("proxy_uma_subdomain");
