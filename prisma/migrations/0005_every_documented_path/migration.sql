-- CreateEnum
CREATE TYPE "WebhookEnvelope" AS ENUM ('FLAT', 'NESTED');

-- AlterTable
ALTER TABLE "external_account" ADD COLUMN     "is_deleted" BOOLEAN NOT NULL DEFAULT false;

-- AlterTable
ALTER TABLE "quote" ADD COLUMN     "remittance_information" TEXT;

-- AlterTable
ALTER TABLE "transaction" ADD COLUMN     "remittance_information" TEXT;

-- AlterTable
ALTER TABLE "world" ADD COLUMN     "webhook_envelope" "WebhookEnvelope" NOT NULL DEFAULT 'FLAT';

-- CreateTable
CREATE TABLE "kyc_link" (
    "id" UUID NOT NULL,
    "world_id" UUID NOT NULL,
    "customer_id" UUID NOT NULL,
    "code_hash" TEXT NOT NULL,
    "redirect_uri" TEXT,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "used_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "version" INTEGER NOT NULL,

    CONSTRAINT "kyc_link_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "kyc_link_code_hash_key" ON "kyc_link"("code_hash");
